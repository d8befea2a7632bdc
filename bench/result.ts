/** What a bench hands to its runner. */
export interface BenchResult {
  readonly name: string;
  readonly figures: Readonly<Record<string, number>>;
  /** CPU time of a page by stage, in µs. */
  readonly cpuMicrosPerPage?: Readonly<Record<string, number>>;
}

/** A bench file exports this as `run`. */
export type Bench = () => Promise<BenchResult>;
