/** Figures that are read when they are asked for. */

/** What a scrape of /metrics asks for: values that are a query or a state. Maps are by chain. */
export interface GaugeReader {
  /** Resolves within some seconds, whatever the database does: `stored` is null while it does not answer. */
  read(): Promise<{ readonly own: OwnFigures; readonly stored: StoredFigures | null }>;
}

/** What the process knows by itself. */
export interface OwnFigures {
  readonly mailboxDepth: number;
  readonly deadLetters: number;
  readonly residentAccounts: number;
  readonly edgeStreams: number;
  /** Of 1,024, those that no node serves, as this one knows. */
  readonly shardsUnowned: number;
  /** By chain: 1 while no node follows it, as this one knows. */
  readonly chainUnfollowed: Readonly<Record<string, number>>;
  /** By role: 1 while no living node has it, as this one knows. */
  readonly roleUnserved: Readonly<Record<string, number>>;
  /** Calls on the internal port that were refused, by reason. */
  readonly callsRefused: Readonly<Record<string, number>>;
}

/** What the database counts. */
export interface StoredFigures {
  readonly publicationsIncomplete: number;
  readonly mailUnsent: number;
  readonly factsSetAside: number;
  readonly blocksUnresolved: Readonly<Record<string, number>>;
  readonly headAgeSeconds: Readonly<Record<string, number>>;
  readonly nonceGaps: Readonly<Record<string, number>>;
}
