/**
 * How often something happens, of late: each event counts less the older it is, by a half every so often. In its first
 * moments it is the plain mean, so that a crawl that has just begun is not told as slow.
 */
export class Rate {
  readonly #lastsMs: number;
  readonly #beganAtMs: number;
  #weight = 0;
  #atMs: number;

  /** @param halfLifeMs after so long an event counts a half */
  constructor(halfLifeMs: number, nowMs: number) {
    this.#lastsMs = halfLifeMs / Math.LN2;
    this.#beganAtMs = nowMs;
    this.#atMs = nowMs;
  }

  count(nowMs: number): void {
    this.#fade(nowMs);
    this.#weight += 1;
  }

  perSecond(nowMs: number): number {
    this.#fade(nowMs);
    const seenMs = this.#lastsMs * (1 - Math.exp(-(nowMs - this.#beganAtMs) / this.#lastsMs));
    return seenMs > 0 ? (this.#weight / seenMs) * 1_000 : 0;
  }

  #fade(nowMs: number): void {
    this.#weight *= Math.exp(-Math.max(0, nowMs - this.#atMs) / this.#lastsMs);
    this.#atMs = Math.max(this.#atMs, nowMs);
  }
}
