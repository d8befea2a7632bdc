/** What `why` is asked about, and what must be in its answers. */
import type { UrlState } from '../../src/domain/record.js';
import type { NextAction } from '../../src/why/answer.js';

export interface WhyCase {
  readonly title: string;
  readonly asked: string;
  readonly state: UrlState | null;
  readonly action: NextAction;
  readonly says: RegExp;
}

/** Of a crawl that runs, while its one request hangs. */
export const RUNNING_CASES: readonly WhyCase[] = [
  {
    title: 'A page that is being asked for',
    asked: 'http://slow.test/page/1',
    state: 'queued',
    action: 'in_flight',
    says: /A request for it is under way/,
  },
  {
    title: 'A page behind the one that is being asked for',
    asked: 'http://slow.test/page/3',
    state: 'queued',
    action: 'fetch',
    says: /2 come before it[\s\S]*being asked for http:\/\/slow\.test(:\d+)?\/page\/1 right now/,
  },
];

export const CASES: readonly WhyCase[] = [
  {
    title: 'A page that was fetched',
    asked: 'http://garden.test/tulips/red',
    state: 'active',
    action: 'none',
    says: /was fetched .* HTTP 200[\s\S]*by a link( \(a\))? on http:\/\/garden\.test\/tulips[\s\S]*is a seed; from there it is 2 links away/,
  },
  {
    title: 'A page that has moved',
    asked: 'http://garden.test/old-tulips',
    state: 'redirected',
    action: 'none',
    says: /redirects to http:\/\/garden\.test\/tulips,[\s\S]*it is known: fetched/,
  },
  {
    title: 'A page that sends in circles',
    asked: 'http://garden.test/gatekeeper',
    state: 'refused',
    action: 'none',
    says: /redirects back to where its chain of redirects has been/,
  },
  {
    title: 'A page that is not there',
    asked: 'http://garden.test/weeds',
    state: 'soft_missing',
    action: 'none',
    says: /the server has no such page \(HTTP 404\)/,
  },
  {
    title: 'A page that robots.txt disallows',
    asked: 'http://garden.test/private/keys',
    state: 'blocked_by_robots',
    action: 'none',
    says: /Line 5 disallows this URL: Disallow: \/private\//,
  },
  {
    title: 'A host that the guard refuses',
    asked: 'http://cellar.test/',
    state: 'refused',
    action: 'none',
    says: /10\.0\.0\.5 is in a range[\s\S]*guard\.allow='\["10\.0\.0\.5\/32"\]'/,
  },
  {
    title: 'A page that waits for its host',
    asked: 'http://busy.test/queue/4',
    state: 'queued',
    action: 'fetch',
    says: /3 come before it[\s\S]*may be asked again in 55 minutes/,
  },
  {
    title: 'A page that failed and is tried again',
    asked: 'http://leaky.test/',
    state: 'waiting',
    action: 'retry',
    says: /the server failed \(HTTP 500\)\. It falls due in 55 minutes.* as delivery 2 of 8/,
  },
  {
    title: 'A page whose robots.txt can not be read',
    asked: 'http://silent.test/page',
    state: 'parked',
    action: 'await_robots',
    says: /can not be read \(HTTP 500\): it was asked for once/,
  },
  {
    title: 'A dead letter',
    asked: 'http://ruin.test/',
    state: 'dead',
    action: 'none',
    says: /given up .* after 8 deliveries/,
  },
  {
    title: 'A page that was never seen',
    asked: 'http://garden.test/orchids',
    state: null,
    action: 'would_be_queued',
    says: /has never met this URL/,
  },
  {
    title: 'A page outside the scope of the crawl',
    asked: 'http://neighbour.test/',
    state: null,
    action: 'would_be_refused',
    says: /none of those that the crawl may enter \[out_of_scope\][\s\S]*neighbour\.test is none of them/,
  },
  {
    title: 'A page that looks endless',
    asked: 'http://garden.test/maze/left/left/left/left/left',
    state: null,
    action: 'would_be_refused',
    says: /goes through the same segments again and again[\s\S]*through \/left\/ \[trap_repeated_segments\]/,
  },
  {
    title: 'A page that the operator excluded',
    asked: 'http://garden.test/shop/basket',
    state: null,
    action: 'would_be_refused',
    says: /a pattern that is excluded matches it: \/shop\/ \[excluded\]/i,
  },
  {
    title: 'A page that was never seen, and that robots.txt disallows',
    asked: 'http://garden.test/private/diary',
    state: null,
    action: 'would_be_refused',
    says: /robots\.txt disallows it/,
  },
  {
    title: 'Another spelling of a page',
    asked: 'HTTP://user:secret@GARDEN.test/a/../tulips%2Fred/../tulips#top',
    state: 'active',
    action: 'none',
    says: /canonical form/,
  },
  {
    title: 'A near spelling',
    asked: 'http://garden.test/tulips/',
    state: null,
    action: 'would_be_queued',
    says: /close by .* http:\/\/garden\.test\/tulips \(fetched\)/,
  },
  {
    title: 'No web page',
    asked: 'mailto:gardener@garden.test',
    state: null,
    action: 'none',
    says: /its scheme is neither http nor https/,
  },
  {
    title: 'No URL at all',
    asked: 'tulips',
    state: null,
    action: 'none',
    says: /it is no URL/,
  },
  {
    title: 'A URL that is too long',
    asked: `http://garden.test/${'tulips/'.repeat(2_000)}`,
    state: null,
    action: 'none',
    says: /longer than any URL that is kept/,
  },
];
