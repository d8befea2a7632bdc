/**
 * A web of canned pages, the same in every process that asks: `pages` pages of about `bytes` bytes with `links` links
 * each, spread over `hosts` names. Page k links to its own children first, so that all are found from page 0.
 */
export interface CannedWeb {
  readonly pages: number;
  readonly hosts: number;
  readonly bytes: number;
  readonly links: number;
}

export const CANNED_WEB: CannedWeb = { pages: 12_000, hosts: 50, bytes: 20_000, links: 40 };

/** Pages that are new on a page: few, as on real ones, where most links repeat. */
const CHILDREN = 4;
const WORDS =
  'the river runs under a stone bridge and past the mill where grain was ground for bread in older days'.split(' ');

export function hostNameOf(web: CannedWeb, page: number): string {
  return `h${page % web.hosts}.bench.test`;
}

export function pathOf(page: number): string {
  return `/section-${page % 17}/article-${page}.html`;
}

/** Null for a path that is no page. */
export function pageOf(path: string): number | null {
  const match = /^\/section-\d+\/article-(\d+)\.html$/.exec(path);
  return match === null ? null : Number(match[1]);
}

/** HTML in UTF-8: paragraphs of words with links between them. */
export function htmlOf(web: CannedWeb, page: number, port: number): Buffer {
  let html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Article ${page} &amp; more</title><link rel="stylesheet" href="/style.css"></head><body><main>`;
  const perParagraph = Math.floor((web.bytes - 300) / web.links);
  for (let i = 0; i < web.links; i++) {
    const target = linkTarget(web, page, i);
    // Links within a host are relative, others absolute, as on real pages.
    const own = target % web.hosts === page % web.hosts;
    const href = own ? pathOf(target) : `http://${hostNameOf(web, target)}:${port}${pathOf(target)}`;
    let paragraph = `<p class="text" id="p${i}">See <a href="${href}" class="link">article ${target}</a>: `;
    for (let word = 0; paragraph.length < perParagraph - 4; word++)
      paragraph += `${WORDS[(word * 7 + i + page) % WORDS.length]} `;
    html += `${paragraph}</p>`;
  }
  return Buffer.from(`${html}</main></body></html>`);
}

function linkTarget(web: CannedWeb, page: number, index: number): number {
  if (index < CHILDREN) {
    const child = page * CHILDREN + 1 + index;
    if (child < web.pages) return child;
  }
  return (page * 31 + index * 7_919) % web.pages;
}
