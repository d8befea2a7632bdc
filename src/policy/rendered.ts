/** Where a browser had come to: on the host that was asked, whatever the page is called there, or on another one (P6). */
export function isElsewhere(url: string, finalUrl: string): boolean {
  return !URL.canParse(finalUrl) || hostOf(finalUrl) !== hostOf(url);
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, '');
}
