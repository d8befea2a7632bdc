/** The control interface of one running crawl, with all its routes. Loaded only by a crawl that serves it. */
import type { LogPort } from '../protocols/ports.js';
import type { Control } from './control.js';
import { controlRoutes } from './routes.js';
import { type ControlServer, openControlServer } from './server.js';

export type { ControlServer } from './server.js';

/** `dataDir` is one whose lock this process holds. Rejects with ControlError or the system's error. */
export function openControl(dataDir: string, control: Control, log: LogPort): Promise<ControlServer> {
  return openControlServer(dataDir, [controlRoutes(control)], log);
}
