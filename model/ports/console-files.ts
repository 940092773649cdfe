/** The web console as the gateway serves it: files that were built before, or at the first request. */

export interface ConsoleFile {
  readonly type: string;
  readonly body: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

/** Files by name; `index.html` is the shell of every page, the others are named by their content. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Throws: Error that says what to do where there are none. */
export type OpenConsole = () => Promise<ConsoleFiles>;
