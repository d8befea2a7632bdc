/** The program's log as the engine sees it. */
import { fieldsWithoutCredentials, withoutCredentials } from '../domain/credentials.js';
import type { LogPort } from '../protocols/ports.js';
import type { LogFunction, Logger } from './log.js';

/** `heard` gets every line too. What the program's own log throws is its own affair, and ends here. */
export function logPort(log: LogFunction | Logger | undefined, heard: LogFunction): LogPort {
  const write: LogFunction = typeof log === 'function' ? log : (level, event, fields) => log?.[level](fields, event);
  return {
    log: (level, event, fields) => {
      const clean = fieldsWithoutCredentials(fields);
      const name = withoutCredentials(event);
      try {
        write(level, name, clean);
      } catch {}
      heard(level, name, clean);
    },
  };
}
