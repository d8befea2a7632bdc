/**
 * The night of the incident for once with real processes: does the crawl that was simulated behave so on a real machine?
 *
 * 500 ordinary hosts of the practice web and twelve walled ones, of which nine need a browser, crawled from the command line, with the
 * sidecar and a real Chromium behind a front that burns its time-out for 200 s: without the incident, with it, and with it
 * while the breaker is switched off. Eleven minutes in all. Times are real and none of them is held against anybody; what is
 * missing or given up is. `--hosts` is the number of ordinary hosts, `--pages` of each.
 */
import { REAL_NIGHT, spendRealNight } from '../test/incident/real-night.js';
import { compareNights } from './incident.js';
import type { Bench } from './result.js';

export const run: Bench = ({ hosts, pages }) => {
  const settings = {
    ...REAL_NIGHT,
    ordinaryHosts: hosts ?? REAL_NIGHT.ordinaryHosts,
    ordinaryPages: pages ?? REAL_NIGHT.ordinaryPages,
  };
  return compareNights({
    name: 'incident-real',
    spend: (kind) => spendRealNight(settings, kind),
    unit: 'seconds',
    ordinaryHosts: settings.ordinaryHosts,
    challengedHosts: settings.walledHosts,
    healsAtSeconds: settings.illForMs / 1_000,
    isTimed: false,
  });
};
