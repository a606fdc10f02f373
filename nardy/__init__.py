"""nardy: rules, evaluation and play of short and long nardy for front ends.

Importing this package imports numpy alone. numba, when it is installed, compiles the kernels the
first time one of them is needed.
"""

__version__ = "0.1.0"
