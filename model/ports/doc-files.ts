/** The documentation as the gateway serves it: built before, or at the first request. */

/** A file by its name below /docs/; undefined where there is none. */
export type DocFile = (name: string) => Uint8Array | undefined;

/** Throws: Error that says what to do where there is none. */
export type OpenDocs = () => Promise<DocFile>;
