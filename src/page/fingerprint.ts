/**
 * A fingerprint of a text of which near duplicates differ in few bits: 64-bit simhash (Charikar, 2002) over every
 * three words in a row.
 *
 * Each triple votes on every bit by its hash; the majority wins. Votes are counted in bit slices: plane *i* holds
 * bit *i* of all counters at once, so that a vote on 32 bits is an addition with carry of about two steps.
 *
 * Letter case, punctuation and white space don't matter. Scripts that don't separate words give a word a character.
 */
const SHINGLE_WORDS = 3;
/** Two independent lanes of a multiplicative hash over UTF-16 units (FNV-1a's numbers in the one, Murmur's in the other). */
const HIGH_SEED = 0x811c9dc5;
const HIGH_FACTOR = 0x01000193;
const LOW_SEED = 0x9747b28c;
const LOW_FACTOR = 0x5bd1e995;
/** Enough for 2^24 triples: more than a page of 16 MiB has. */
const PLANES = 24;

/** @returns 16 hex digits, or null where the text has no word. */
export function simhash(text: string): string | null {
  const votes = new Votes();
  const lower = text.toLowerCase();
  let words = 0;
  // Hashes of the last two words, in two independent lanes.
  let highBefore = 0;
  let highLast = 0;
  let lowBefore = 0;
  let lowLast = 0;
  for (let at = 0; at < lower.length; ) {
    const unit = lower.charCodeAt(at++);
    const kind = KINDS[unit];
    if (kind === GAP) continue;
    let high = Math.imul(HIGH_SEED ^ unit, HIGH_FACTOR);
    let low = Math.imul(LOW_SEED ^ unit, LOW_FACTOR);
    for (; kind === LETTER && at < lower.length; at++) {
      const next = lower.charCodeAt(at);
      if (KINDS[next] !== LETTER) break;
      high = Math.imul(high ^ next, HIGH_FACTOR);
      low = Math.imul(low ^ next, LOW_FACTOR) ^ (low >>> 15);
    }
    words++;
    if (words >= SHINGLE_WORDS) votes.add(joined(highBefore, highLast, high), joined(lowBefore, lowLast, low));
    highBefore = highLast;
    highLast = high;
    lowBefore = lowLast;
    lowLast = low;
  }
  if (words === 0) return null;
  if (words < SHINGLE_WORDS) votes.add(joined(0, highBefore, highLast), joined(0, lowBefore, lowLast));
  return votes.majority();
}

/** Three word hashes as one, well mixed (the finaliser of MurmurHash3). */
function joined(first: number, second: number, third: number): number {
  let mixed = Math.imul(Math.imul(first, 31) + second, 31) + third;
  mixed ^= mixed >>> 16;
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

const GAP = 0;
const LETTER = 1;
/** A character that is a word by itself: kana, Han, Hangul syllables. */
const SIGN = 2;

/** What each UTF-16 unit of a lower-case text is. */
const KINDS = new Uint8Array(0x10000);
for (let unit = 0; unit < KINDS.length; unit++) KINDS[unit] = kindOf(unit);

function kindOf(unit: number): number {
  if (unit < 0x80) return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39) ? LETTER : GAP;
  if (unit < 0xc0) return unit === 0xaa || unit === 0xb5 || unit === 0xba ? LETTER : GAP;
  if (unit < 0x2000) return LETTER;
  if (unit < 0x2c00 || (unit >= 0x2e00 && unit < 0x3040)) return GAP;
  if (unit <= 0x9fff || (unit >= 0xac00 && unit <= 0xd7a3)) return unit < 0x3040 ? LETTER : SIGN;
  return unit >= 0xff00 && unit <= 0xff0f ? GAP : LETTER;
}

class Votes {
  private readonly high = new Int32Array(PLANES);
  private readonly low = new Int32Array(PLANES);
  private count = 0;

  add(high: number, low: number): void {
    this.count++;
    carry(this.high, high);
    carry(this.low, low);
  }

  majority(): string {
    return hex(majorityOf(this.high, this.count)) + hex(majorityOf(this.low, this.count));
  }
}

function carry(planes: Int32Array, ones: number): void {
  for (let i = 0; ones !== 0 && i < PLANES; i++) {
    const plane = planes[i] as number;
    planes[i] = plane ^ ones;
    ones &= plane;
  }
}

function majorityOf(planes: Int32Array, count: number): number {
  let bits = 0;
  for (let bit = 0; bit < 32; bit++) {
    let ones = 0;
    for (let i = 0; i < PLANES; i++) ones += (((planes[i] as number) >>> bit) & 1) << i;
    if (ones * 2 > count) bits |= 1 << bit;
  }
  return bits;
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0');
}
