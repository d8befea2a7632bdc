/**
 * A body as it comes, in one growing buffer.
 *
 * Pieces are copied at once: a piece that is kept as it came pins the whole read that it was cut from, and a hostile
 * server could send millions of one-byte chunks. With a declared length that is honest, the buffer is exact from the
 * start and nothing is copied twice.
 */
const CAPACITY_MIN = 16 * 1024;
/** A declared length is believed up to here; beyond, the body has to arrive first. */
const CAPACITY_TRUSTED_MAX = 256 * 1024;

export class Body {
  readonly #bytesExpected: number | null;
  #buffer: Uint8Array<ArrayBuffer> | null = null;
  #length = 0;

  /** @param bytesExpected the declared length, or null where none is declared */
  constructor(bytesExpected: number | null) {
    this.#bytesExpected = bytesExpected;
  }

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (this.#buffer === null || length > this.#buffer.length) this.#grow(length);
    this.#buffer?.set(piece, this.#length);
    this.#length = length;
  }

  /** The bytes so far, owning the whole of their ArrayBuffer. Nothing may be appended afterwards. */
  bytes(): Uint8Array<ArrayBuffer> {
    if (this.#buffer === null) return new Uint8Array(0);
    return this.#buffer.length === this.#length ? this.#buffer : this.#buffer.slice(0, this.#length);
  }

  #grow(lengthMin: number): void {
    const expected = this.#bytesExpected;
    const doubled = Math.max(lengthMin, 2 * (this.#buffer?.length ?? 0));
    const first = this.#buffer === null ? Math.min(expected ?? CAPACITY_MIN, CAPACITY_TRUSTED_MAX) : 0;
    const wanted = Math.max(doubled, first);
    // The last growth of a long body with an honest length makes it exact.
    const capacity = expected !== null && expected >= lengthMin && wanted > expected ? expected : wanted;
    const grown = new Uint8Array(Buffer.allocUnsafeSlow(capacity).buffer);
    if (this.#buffer !== null) grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}
