/**
 * Bounds that are not options: each is a promise of the engine, or follows from one. Changing one changes behaviour
 * that tests and operators rely on, so it happens here, with its reason, and the relations below must still hold.
 */
import assert from 'node:assert/strict';

export const LIMITS = {
  /** A hard bound on any URL. Longer ones are refused with the reason, never cut: a cut URL is another URL. */
  urlCharsMax: 8_192,
  /** Longer ones are most often a trap. */
  urlTrapCharsMax: 2_048,
  /** Path segments: deeper ones are most often a loop of relative links. */
  urlSegmentsMax: 20,

  /** RFC 9309 §2.5 asks for at least 500 KiB; the rest of a longer file is not read. */
  robotsBytesMax: 512_000,
  /** RFC 9309 §2.3.1.2 asks for at least five hops. */
  robotsRedirectsMax: 5,
  /** RFC 9309 §2.4: a copy should not be used for longer than a day. */
  robotsFreshMsMax: 24 * 3_600_000,

  /** Hops of one chain of redirects. */
  redirectHopsMax: 10,

  /** No delay between two requests to a host grows past it, unless the host itself asked for more. */
  hostDelayMsMax: 60_000,
  /** An unused permit lapses, so that a lost one closes a host for seconds only. */
  permitMsMax: 5_000,
  /** How long the gate waits for the host actor's verdict before it takes the capped delay. */
  verdictMsMax: 5_000,

  /** Decompressed bytes per compressed byte beyond the first MiB: zlib itself ends near 1 030. */
  inflateRatioMax: 100,
  /** Below it any ratio passes: small pages of one repeated line are honest. */
  inflateFreeBytes: 1_048_576,
  /** Content codings on one response; more is an attack or a broken proxy. */
  contentCodingsMax: 2,
  /** What a parser may take for one page before its thread is given up. */
  parseMsMax: 2_000,

  /** A turn of an inbox ends after it, so that timers and sockets get their share of the loop. */
  turnMsMax: 4,
  /** One sync commit a second: what a loss of power may cost. */
  syncCommitMs: 1_000,
  /** A host stays live for so many visits, so that many hosts in rotation don't thrash. */
  visitsPerActivation: 64,

  /** DNS answers are kept for their TTL within these. */
  dnsFreshMsMin: 5_000,
  dnsFreshMsMax: 3_600_000,
} as const;

assert(LIMITS.urlTrapCharsMax <= LIMITS.urlCharsMax, 'a trap bound above the hard bound would never be met');
assert(LIMITS.robotsBytesMax >= 500 * 1_024, 'RFC 9309 §2.5: at least 500 KiB must be read');
assert(LIMITS.robotsRedirectsMax >= 5, 'RFC 9309 §2.3.1.2: at least five redirects must be followed');
assert(LIMITS.permitMsMax < LIMITS.hostDelayMsMax, 'a lost permit must cost less than the longest delay');
assert(LIMITS.turnMsMax * 10 <= LIMITS.syncCommitMs, 'many turns must fit between two sync commits');
assert(LIMITS.dnsFreshMsMin < LIMITS.dnsFreshMsMax, 'the least time must lie below the greatest');
