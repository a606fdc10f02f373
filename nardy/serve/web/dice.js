// Dice that depend on a seed and a count alone, so that a reload brings the same roll.

export function newSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}

/** Two numbers of 1..6. */
export function roll(seed, count) {
  const word = mix(mix(seed >>> 0) + Math.imul(count + 1, 0x9e3779b9));
  const pair = Math.floor((word / 2 ** 32) * 36);
  return [1 + Math.floor(pair / 6), 1 + (pair % 6)];
}

/** A roll as it is written, the larger die first. */
export const rollText = ([a, b]) => `${Math.max(a, b)}-${Math.min(a, b)}`;

/** A uniform 32-bit word of a 32-bit word (the finaliser of MurmurHash3, Appleby 2011). */
export function mix(word) {
  word = (word + 0x6a09e667) >>> 0;
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}
