/** What a bench is told, and what it hands to its runner. */
export interface BenchOptions {
  /** Pages that count; each bench has a number of its own where none is given. */
  readonly pages: number | null;
  readonly hosts: number | null;
  /** Of one page. */
  readonly bytes: number | null;
  /** On one page. */
  readonly links: number | null;
  /** How often each figure is taken. */
  readonly rounds: number | null;
}

export type Figures = Readonly<Record<string, number>>;

export interface BenchResult {
  readonly name: string;
  readonly figures: Figures;
  /** CPU time of a page by stage, in µs. */
  readonly cpuMicrosPerPage?: Figures;
  /** Of a bench that compares: the figures of each of its subjects. */
  readonly subjects?: Readonly<Record<string, { readonly figures: Figures; readonly cpuMicrosPerPage?: Figures }>>;
  /** What should have held of figures that are the same on every machine, and does not: each in words. */
  readonly broken?: readonly string[];
  /** An SVG image. */
  readonly plot?: string;
}

/** A bench file exports this as `run`. */
export type Bench = (options: BenchOptions) => Promise<BenchResult>;
