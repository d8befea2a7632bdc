/**
 * A fingerprint of a text of which near duplicates differ in few bits: 64-bit simhash (Charikar, 2002) over every
 * three words in a row.
 *
 * Each triple votes on every bit by its hash; the majority wins. Votes are counted in bit slices: plane *i* holds
 * bit *i* of all counters at once. Four votes are added together: of 32 counters one nearly always carries far, and
 * so that is paid once for four.
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
  private readonly high = new Lane();
  private readonly low = new Lane();
  private count = 0;

  add(high: number, low: number): void {
    this.high.add(high, this.count & 3);
    this.low.add(low, this.count & 3);
    this.count++;
  }

  majority(): string {
    const { high, low, count } = this;
    return hex(majorityOf(high.total(count & 3), count)) + hex(majorityOf(low.total(count & 3), count));
  }
}

/** 32 counters. */
class Lane {
  private readonly planes = new Int32Array(PLANES);
  private readonly waiting = new Int32Array(4);

  add(votes: number, place: number): void {
    this.waiting[place] = votes;
    if (place === 3) this.addFour();
  }

  /** With the votes that wait, of which there are as many; nothing is added after it. */
  total(waiting: number): Int32Array {
    this.waiting.fill(0, waiting);
    this.addFour();
    return this.planes;
  }

  /** Three full adders: of three bits of one weight the parity stays, the majority has twice the weight. */
  private addFour(): void {
    const { planes, waiting } = this;
    const first = waiting[0] as number;
    const second = waiting[1] as number;
    const third = waiting[2] as number;
    const fourth = waiting[3] as number;
    const ones = planes[0] as number;
    const twos = planes[1] as number;
    const early = first ^ second;
    const half = early ^ ones;
    const late = third ^ fourth;
    const twosEarly = (first & second) | (early & ones);
    const twosLate = (third & fourth) | (late & half);
    const both = twosEarly ^ twosLate;
    planes[0] = late ^ half;
    planes[1] = both ^ twos;
    carry(planes, 2, (twosEarly & twosLate) | (both & twos));
  }
}

/** Adds to the counters' bits from `plane` on. */
function carry(planes: Int32Array, plane: number, ones: number): void {
  for (let i = plane; ones !== 0 && i < PLANES; i++) {
    const before = planes[i] as number;
    planes[i] = before ^ ones;
    ones &= before;
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
