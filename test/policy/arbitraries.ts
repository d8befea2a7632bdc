/** Arbitraries that several policies' tests share. */
import fc from 'fast-check';

/** What chance may hand to a policy: a number in [0, 1), its ends included. */
export const drawn = fc.oneof(
  fc.constantFrom(0, 0.5, 1 - Number.EPSILON / 2),
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
);
