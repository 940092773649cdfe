/** Figures that are read when they are asked for. */

/** What a scrape of /metrics asks for: values that are a query or a state. Maps are by chain. */
export interface GaugeReader {
  read(): Promise<{
    publicationsIncomplete: number;
    mailUnsent: number;
    factsSetAside: number;
    blocksUnresolved: Readonly<Record<string, number>>;
    headAgeSeconds: Readonly<Record<string, number>>;
    nonceGaps: Readonly<Record<string, number>>;
    mailboxDepth: number;
    deadLetters: number;
    residentAccounts: number;
    edgeStreams: number;
  }>;
}
