/** The public API, and nothing else. What is not exported here may change at any time. */
export type {
  DeadList,
  DeadQuery,
  ExcludeReport,
  PauseReport,
  RedriveList,
  RedriveReport,
  RedrivesQuery,
  RedriveView,
  SeedReport,
  SeedVerdict,
  StatusReport,
} from './admin/control.js';
export type { ConfigOptions } from './config/options.js';
export { type Crawler, createCrawler, type RedriveOptions } from './library/crawler.js';
export { CrawlerError } from './library/error.js';
export type { CrawlerEvents, ErrorEvent, EventName, Listener, VisitEvent } from './library/events.js';
export type { LogFields, LogFunction, Logger, LogLevel } from './library/log.js';
export type { CrawlerOptions, ModuleName, PlugIn } from './library/options.js';
export type { Page, PageLink, Want, WarcPlace } from './library/page.js';
export type { CrawlSummary } from './library/summary.js';
export type {
  Content,
  ContentFacts,
  ContentHandler,
  ContentHeader,
  ContentLink,
} from './plugins/content-handler.js';
export type { LinkExtractor, TextPage } from './plugins/link-extractor.js';
export type { UrlCandidate, UrlFilter } from './plugins/url-filter.js';
export type { WhyAnswer } from './why/answer.js';
