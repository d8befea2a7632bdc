/** Plug-ins that run in parser threads: named by module, since code can't be sent to a thread. Cloneable, all of it. */

export interface PlugInModule {
  /** Absolute, as a `file:` or `data:` URL. */
  readonly href: string;
  /** Handed to each call: what can be cloned. */
  readonly options: unknown;
}

export interface PlugInModules {
  readonly contentHandlers: readonly PlugInModule[];
  readonly linkExtractors: readonly PlugInModule[];
}

export const NO_MODULES: PlugInModules = { contentHandlers: [], linkExtractors: [] };
