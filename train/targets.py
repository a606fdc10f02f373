"""Targets: what a finished game says its positions were worth."""

from nardy.rules.kernel import float_kernel


@float_kernel
def lambda_returns(chances, final, lam, returns):
    """Forward-view lambda-returns over one episode, as distributions over outcomes.

        G_T = final,   G_t = flip((1 - lam) V(s_{t+1}) + lam G_{t+1})

    where flip reverses the outcomes, because the next position is the other player's to move
    (Sutton and Barto, Reinforcement Learning, 2nd edition, section 12.1).

    chances: float32[T + 1, K], V(s_t) for the player on roll at t; row 0 is not read.
    final: float32[K], the return of the last position, for the player on roll there.
    returns: float32[T + 1, K], written.
    """
    last = returns.shape[0] - 1
    outcomes = returns.shape[1]
    for k in range(outcomes):
        returns[last, k] = final[k]
    for t in range(last - 1, -1, -1):
        for k in range(outcomes):
            turned = outcomes - 1 - k
            returns[t, k] = (1 - lam) * chances[t + 1, turned] + lam * returns[t + 1, turned]
