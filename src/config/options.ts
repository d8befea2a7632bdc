/**
 * Every option as a program gives it: the schema once more, as a type with its sentences, so that an editor shows them
 * and no type of another package is needed. Made from the schema; a test holds it against it, and writes it anew with
 * `npx vitest run test/config/options.test.ts -u`.
 */
export interface ConfigOptions {
  /**
   * Sent with each request. Its first word is what robots.txt is matched against; beyond loopback it must hold a URL or an address where the operator can be reached.
   * At most 256 printable ASCII characters that begin with the product token. Default: `"Orbweaver/0.1"`.
   */
  readonly userAgent?: string;
  /**
   * How far links are followed from the seeds: their hosts, their registrable domains, or anywhere.
   * "host" or "site" or "any". Default: `"site"`.
   */
  readonly scope?: 'host' | 'site' | 'any';
  /**
   * Only URLs that match one of these are followed; none: all are.
   * Patterns as in robots.txt: /path, a host, host/path or a whole URL, with * and $; or regex:…. Default: `[]`.
   */
  readonly include?: readonly string[];
  /**
   * URLs that match one of these are left.
   * Patterns as in robots.txt: /path, a host, host/path or a whole URL, with * and $; or regex:…. Default: `[]`.
   */
  readonly exclude?: readonly string[];
  /**
   * Links further from a seed are left; null: no bound.
   * A whole number from 0 to 1000000 or null (hops). Default: `null`.
   */
  readonly maxDepth?: number | null;
  /**
   * A crawl ends when nothing falls due within this time.
   * A number from 0 to 86400 (seconds). Default: `30`.
   */
  readonly waitSeconds?: number;
  /** Where a site may have no end. */
  readonly traps?: {
    /**
     * A longer URL is left; it is never cut.
     * A whole number from 64 to 8192 (characters). Default: `2048`.
     */
    readonly urlCharactersMax?: number;
    /**
     * A path with more segments is left.
     * A whole number from 1 to 1000 (segments). Default: `20`.
     */
    readonly segmentsMax?: number;
    /**
     * A path that goes more often in a row through the same segments is left.
     * A whole number from 1 to 100 (times). Default: `3`.
     */
    readonly repeatsMax?: number;
  };
  /** How names become addresses. */
  readonly dns?: {
    /**
     * Name servers to ask; none: those of the system.
     * A list, each of it an IP address, with a port where it is not 53, as in 127.0.0.1:5353 or [::1]:5353. Default: `[]`.
     */
    readonly servers?: readonly string[];
    /**
     * Fixed addresses by name; *.example.org stands for all names below it, at any depth.
     * An object from a host name in lower case, *.NAME for all names below it, or * for all to an IPv4 address or an IPv6 address. Default: `{}`.
     */
    readonly hosts?: Readonly<Record<string, string>>;
  };
  /** Which addresses may be reached. */
  readonly guard?: {
    /**
     * Networks that are allowed although they are private, loopback or reserved.
     * A list, each of it an IPv4 network such as 10.0.0.0/8 or an IPv6 network such as fd00::/8. Default: `[]`.
     */
    readonly allow?: readonly string[];
  };
  /** How often a host is asked. */
  readonly politeness?: {
    /**
     * The least time from the end of a request to the next one of its host.
     * A whole number from 0 to 3600000 (milliseconds). Default: `1000`.
     */
    readonly delayMs?: number;
    /**
     * Delays of their own for some hosts; *.example.org stands for all names below it, at any depth.
     * An object from a host name in lower case, *.NAME for all names below it, or * for all to a whole number from 0 to 3600000 (milliseconds). Default: `{}`.
     */
    readonly hostDelaysMs?: Readonly<Record<string, number>>;
    /**
     * A host is left alone for this many times as long as it took to answer; 0 switches that off.
     * A number from 0 to 1000 (times). Default: `10`.
     */
    readonly adaptiveFactor?: number;
    /**
     * The least time between two requests to one address; 0 switches that off.
     * A whole number from 0 to 60000 (milliseconds). Default: `100`.
     */
    readonly addressDelayMs?: number;
    /**
     * Networks whose addresses have no clock of their own, as of a large cache.
     * A list, each of it an IPv4 network such as 10.0.0.0/8 or an IPv6 network such as fd00::/8. Default: `[]`.
     */
    readonly addressExempt?: readonly string[];
  };
  /** Requests and their bounds. */
  readonly fetch?: {
    /**
     * Requests at once.
     * A whole number from 1 to 4096 (requests). Default: `256`.
     */
    readonly slots?: number;
    /**
     * The whole of a request, from the connection to the last byte.
     * A whole number from 100 to 600000 (milliseconds). Default: `20000`.
     */
    readonly timeoutMs?: number;
    /**
     * Speak HTTP/2 with servers that choose it, one request at a time.
     * True or false. Default: `true`.
     */
    readonly http2?: boolean;
    /**
     * A body beyond it, after decompression, is refused.
     * A whole number from 1 to 1073741824 (bytes). Default: `16777216`.
     */
    readonly bytesMax?: number;
    /**
     * A header block beyond it is refused.
     * A whole number from 1024 to 1048576 (bytes). Default: `65536`.
     */
    readonly headerBytesMax?: number;
    /**
     * Open connections, idle ones included; the oldest idle one gives way.
     * A whole number from 1 to 65536 (connections). Default: `1024`.
     */
    readonly socketsMax?: number;
    /**
     * Visits begun and not yet committed: what a crash may repeat.
     * A whole number from 1 to 65536 (visits). Default: `256`.
     */
    readonly openVisitsMax?: number;
    /**
     * Bodies in memory; above half of it no request begins, at the whole of it sockets are paused.
     * A whole number from 1048576 to 68719476736 (bytes). Default: `268435456`.
     */
    readonly bodyBudgetBytes?: number;
  };
  /** robots.txt. */
  readonly robots?: {
    /**
     * The whole of a request for robots.txt.
     * A whole number from 100 to 600000 (milliseconds). Default: `10000`.
     */
    readonly timeoutMs?: number;
    /**
     * Obey what a page asks of robots by meta element or X-Robots-Tag header: nofollow.
     * True or false. Default: `true`.
     */
    readonly meta?: boolean;
  };
  /** Which links of a page are followed. */
  readonly links?: {
    /**
     * What a page shows: images, with every candidate of a srcset, style sheets and icons; after documents of equal depth.
     * True or false. Default: `true`.
     */
    readonly embeds?: boolean;
    /**
     * What a form that asks by GET leads to when it is sent as it stands.
     * True or false. Default: `false`.
     */
    readonly forms?: boolean;
    /**
     * Links with rel=nofollow.
     * "skip" or "follow". Default: `"skip"`.
     */
    readonly nofollow?: 'skip' | 'follow';
  };
  /** Doors in front of pages, and scripts' empty shells. */
  readonly challenge?: {
    /**
     * Look at the headers of an answer.
     * True or false. Default: `true`.
     */
    readonly byHeaders?: boolean;
    /**
     * Look at the title, the addresses, the scripts and the names in a page.
     * True or false. Default: `true`.
     */
    readonly byMarkers?: boolean;
    /**
     * Look at how little a page says: a script's empty shell.
     * True or false. Default: `true`.
     */
    readonly byDensity?: boolean;
    /**
     * More of what only a door has in an address, a script or a name, in any case.
     * A list, each of it a text. Default: `[]`.
     */
    readonly markers?: readonly string[];
    /**
     * More headers that only a door is sent with.
     * Header names, or name: value, as in x-guard: denied. Default: `[]`.
     */
    readonly headers?: readonly string[];
    /**
     * A larger page should say something.
     * A whole number from 0 to 1073741824 (bytes). Default: `2048`.
     */
    readonly densityMarkupBytes?: number;
    /**
     * A page with less visible text says next to nothing.
     * A whole number from 0 to 100000 (characters). Default: `200`.
     */
    readonly densityTextCharacters?: number;
  };
  /** Reading pages. */
  readonly page?: {
    /**
     * Links taken from one page; the rest is counted and left.
     * A whole number from 0 to 1000000 (links). Default: `5000`.
     */
    readonly linksMax?: number;
    /**
     * Threads that read pages; without a value, by the number of cores.
     * A whole number from 1 to 64 (threads). Default: `2`.
     */
    readonly threads?: number;
  };
  /** WARC files. */
  readonly archive?: {
    /**
     * Keep requests and responses in WARC files.
     * True or false. Default: `true`.
     */
    readonly enabled?: boolean;
    /**
     * Keep with each page how it was found and what it links to, as a metadata record.
     * True or false. Default: `true`.
     */
    readonly metadata?: boolean;
    /**
     * A WARC file that reaches it is closed and a new one begun.
     * A whole number from 100000 to 1000000000000 (bytes). Default: `1000000000`.
     */
    readonly fileBytesMax?: number;
  };
  /** Certificates. */
  readonly tls?: {
    /**
     * A PEM file of authorities that are trusted beside those of the runtime.
     * A text or null. Default: `null`.
     */
    readonly ca?: string | null;
  };
  /** Deliveries after a failure. */
  readonly retry?: {
    /**
     * Waits before each further delivery; the last one repeats.
     * A list, each of it a number from 0 to 86400 (seconds). Default: `[2,10,30,60,120]`.
     */
    readonly delaysSeconds?: readonly number[];
    /**
     * Deliveries in all; then the URL is a dead letter.
     * A whole number from 1 to 100 (deliveries). Default: `8`.
     */
    readonly deliveriesMax?: number;
    /**
     * Retries that each first attempt allows, of a host and of all: beyond them and those below a retry waits.
     * A number from 0 to 10 (retries). Default: `0.2`.
     */
    readonly budgetShare?: number;
    /**
     * Retries that each host may make beside its share.
     * A number from 0.1 to 60000 (retries a minute). Default: `30`.
     */
    readonly budgetPerHostAndMinute?: number;
    /**
     * Retries that all hosts together may make beside their share.
     * A number from 1 to 6000000 (retries a minute). Default: `600`.
     */
    readonly budgetPerMinute?: number;
  };
  /** Hosts that fail. */
  readonly breaker?: {
    /**
     * Failures in a row after which a host is left alone.
     * A whole number from 1 to 1000 (failures). Default: `5`.
     */
    readonly failures?: number;
    /**
     * How long it is left alone the first time; after each failure of its probe twice as long, up to an hour.
     * A number from 1 to 3600 (seconds). Default: `30`.
     */
    readonly quarantineSeconds?: number;
  };
  /** What it takes to get a page. */
  readonly escalation?: {
    /**
     * For so long a host is believed to need what it needed last; then less is tried with one URL.
     * A number from 1 to 604800 (seconds). Default: `21600`.
     */
    readonly memorySeconds?: number;
    /**
     * What shows a challenge whatever is tried is tried again so much later.
     * A number from 1 to 604800 (seconds). Default: `3600`.
     */
    readonly retrySeconds?: number;
  };
  /** Requests with a browser's handshake. */
  readonly impersonate?: {
    /**
     * Hosts that may be asked so, where they refuse a plain request; none: it is switched off.
     * A list, each of it a host name in lower case, *.NAME for all names below it, or * for all. Default: `[]`.
     */
    readonly sites?: readonly string[];
    /**
     * The browser, with its version, whose handshake and headers are sent.
     * "chrome136" or "chrome142" or "chrome151" or "firefox135" or "firefox144". Default: `"chrome151"`.
     */
    readonly browser?: 'chrome136' | 'chrome142' | 'chrome151' | 'firefox135' | 'firefox144';
    /**
     * The mailbox or URL that goes with it as From; none: the contact of the user agent.
     * A text or null. Default: `null`.
     */
    readonly from?: string | null;
    /**
     * Such requests at once.
     * A whole number from 1 to 256 (requests). Default: `8`.
     */
    readonly concurrency?: number;
  };
  /** Pages that need a browser. */
  readonly browser?: {
    /**
     * A service that drives browsers and speaks the FlareSolverr v1 protocol; none: no page is rendered.
     * A text or null. Default: `null`.
     */
    readonly endpoint?: string | null;
    /**
     * Hosts whose pages may be rendered, where nothing less gets them.
     * A list, each of it a host name in lower case, *.NAME for all names below it, or * for all. Default: `["*"]`.
     */
    readonly sites?: readonly string[];
    /**
     * Pages that are rendered at once.
     * A whole number from 1 to 64 (pages). Default: `2`.
     */
    readonly concurrency?: number;
    /**
     * The whole of a page, with all that it loads.
     * A whole number from 1000 to 300000 (milliseconds). Default: `30000`.
     */
    readonly timeoutMs?: number;
    /**
     * Of the browser's time that one host is granted in a day; what needs more waits for the next.
     * A whole number from 1 to 86400 (seconds). Default: `600`.
     */
    readonly secondsPerHostAndDay?: number;
    /**
     * The service guards its own connections: it is not told to go through this process.
     * True or false. Default: `false`.
     */
    readonly trustBackend?: boolean;
    /**
     * Give the service a rest after five failures in a row, while all else goes on; without, it is asked again and again.
     * True or false. Default: `true`.
     */
    readonly breaker?: boolean;
  };
  /** When the fault is ours. */
  readonly egress?: {
    /**
     * When hardly any host can be reached, stop asking but for one at a time, and count that against none.
     * True or false. Default: `true`.
     */
    readonly guard?: boolean;
    /**
     * So many hosts must be out of reach at least.
     * A whole number from 2 to 256 (hosts). Default: `5`.
     */
    readonly hostsMin?: number;
    /**
     * The latest hosts that are looked at.
     * A whole number from 2 to 256 (hosts). Default: `16`.
     */
    readonly hostsMax?: number;
    /**
     * The share of these hosts that must be out of reach.
     * A number from 0.5 to 1 (of the hosts). Default: `0.8`.
     */
    readonly shareMin?: number;
    /**
     * What was learned of a host before counts no more.
     * A number from 1 to 600 (seconds). Default: `30`.
     */
    readonly windowSeconds?: number;
    /**
     * For so long a host that could not be reached is not judged: whose fault it is may show meanwhile.
     * A number from 0 to 60 (seconds). Default: `5`.
     */
    readonly suspenseSeconds?: number;
  };
  /** The filter of known URLs. */
  readonly seen?: {
    /**
     * It keeps to one false hit in a hundred up to this size.
     * A whole number from 1000 to 10000000000 (URLs). Default: `10000000`.
     */
    readonly expectedUrls?: number;
  };
  /** Host actors. */
  readonly hosts?: {
    /**
     * Hosts kept ready per fetch slot, at least; more while slots are idle and hosts wait in line.
     * A number from 1 to 100 (hosts). Default: `3`.
     */
    readonly activeFactor?: number;
    /**
     * Hosts in memory at once; beyond it those that have rested longest go back to the store.
     * A whole number from 1 to 10000000 (hosts). Default: `50000`.
     */
    readonly liveMax?: number;
  };
}
