/** What may be said to a fetcher: one request at a time, never without a permit. */
import type { FetchRequest } from '../domain/fetching.js';
import type { FetchEnded } from './effects.js';
import type { Permit } from './workbench.js';

export type Message = Start | FetchEnded;

export interface Start {
  readonly type: 'start';
  readonly permit: Permit;
  readonly request: FetchRequest;
}
