/**
 * Pages between the crawl and whoever takes them: each goes to one taker, in order, once.
 *
 * Bounded by the crawl, not by dropping: above its bounds the queue asks for a hold, and below half of them for its
 * release. What was open by then still comes, so it may grow beyond by as many visits as may be open at once.
 */
import { bytesOf } from './delivered.js';
import type { Page } from './page.js';

export interface PageBounds {
  readonly pages: number;
  readonly bytes: number;
}

/** What the crawl is asked for. */
export interface Pressed {
  hold(): void;
  release(): void;
}

type Taker = (result: IteratorResult<Page, undefined>) => void;

/** How it ended: null in order, otherwise what the last taker is told. */
type End = { readonly failure: Error | null };

const DONE: IteratorResult<Page, undefined> = { done: true, value: undefined };

export class PageQueue {
  readonly #bounds: PageBounds;
  readonly #pressed: Pressed;
  /** A ring would be faster and is not needed: it holds some tens. */
  readonly #pages: Page[] = [];
  readonly #takers: { resolve: Taker; reject: (error: Error) => void }[] = [];
  #bytes = 0;
  #isHolding = false;
  #end: End | null = null;

  constructor(bounds: PageBounds, pressed: Pressed) {
    this.#bounds = bounds;
    this.#pressed = pressed;
  }

  get length(): number {
    return this.#pages.length;
  }

  offer(page: Page): void {
    const taker = this.#takers.shift();
    if (taker !== undefined) return taker.resolve({ done: false, value: page });
    this.#pages.push(page);
    this.#bytes += bytesOf(page);
    const { pages, bytes } = this.#bounds;
    if (this.#isHolding || (this.#pages.length < pages && this.#bytes < bytes)) return;
    this.#isHolding = true;
    this.#pressed.hold();
  }

  /** The next page; the end once all are taken. Rejects, once, where the crawl has failed. */
  take(): Promise<IteratorResult<Page, undefined>> {
    const page = this.#pages.shift();
    if (page !== undefined) {
      this.#bytes -= bytesOf(page);
      this.#relieve();
      return Promise.resolve({ done: false, value: page });
    }
    if (this.#end === null) return new Promise((resolve, reject) => this.#takers.push({ resolve, reject }));
    const { failure } = this.#end;
    this.#end = { failure: null };
    return failure === null ? Promise.resolve(DONE) : Promise.reject(failure);
  }

  /** No page comes any more; those that are here can still be taken. */
  close(failure: Error | null): void {
    if (this.#end !== null) return;
    this.#end = { failure };
    for (const { resolve, reject } of this.#takers.splice(0)) failure === null ? resolve(DONE) : reject(failure);
    if (failure !== null) this.#end = { failure };
  }

  #relieve(): void {
    const { pages, bytes } = this.#bounds;
    if (!this.#isHolding || this.#pages.length > pages / 2 || this.#bytes > bytes / 2) return;
    this.#isHolding = false;
    this.#pressed.release();
  }
}

/** Several of them share the queue: each page goes to one. Leaving the loop takes nothing with it. */
export function iterate(queue: PageQueue, begin: () => void): AsyncIterableIterator<Page> {
  const iterator: AsyncIterableIterator<Page> = {
    next: () => {
      begin();
      return queue.take();
    },
    return: () => Promise.resolve(DONE),
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
