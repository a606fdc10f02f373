"""A small random net, and a door's bot with it."""

import pytest
from random_nets import make_net

from nardy.net.net import Net
from nardy.serve.bot import Bot


@pytest.fixture(scope="session")
def net() -> Net:
    return make_net(12, (8,), seed=4)


@pytest.fixture
def bot(net: Net) -> Bot:
    return Bot(net)
