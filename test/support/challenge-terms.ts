/** How doors are told from pages where nothing is configured. */
import { configSchema } from '../../src/config/schema.js';

export const CHALLENGE_TERMS = configSchema.parse({}).challenge;
