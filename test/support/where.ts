/**
 * Twenty questions of a newcomer, each with its file and what is to be found there. They are answered from README,
 * docs/ARCHITECTURE.md and the pages that these name; test/tidy/where.test.ts holds that the answers are true and that
 * both lead there.
 */
export interface Question {
  readonly asks: string;
  readonly file: string;
  /** What the file exports, or the SQL function that it defines. */
  readonly name: string;
}

export const QUESTIONS: readonly Question[] = [
  {
    asks: 'Where is it decided what a transfer that was seen means for a deposit?',
    file: 'actors/deposit/decide.ts',
    name: 'DepositBook',
  },
  {
    asks: 'Which SQL function stores what accounts decided?',
    file: 'persistence/postgres/functions/append_accounts.sql',
    name: 'append_accounts',
  },
  {
    asks: 'How does the watcher judge whether enough endpoints agree?',
    file: 'chain-watchers/follow/quorum.ts',
    name: 'quorumOf',
  },
  {
    asks: 'Where is it decided, without I/O, where the fork of a reorg is?',
    file: 'chain-watchers/reorg/reorg.ts',
    name: 'forkIndex',
  },
  {
    asks: 'Where do signed bytes leave the cloud for the chain for the first time?',
    file: 'actors/outgoing/submit.ts',
    name: 'submitAtOnce',
  },
  {
    asks: 'Where does the edge read what a payload of Bitcoin does before it signs it?',
    file: 'edge/signing/signers/btc.ts',
    name: 'btcSigner',
  },
  {
    asks: 'Where does the edge count what it has spent?',
    file: 'edge/spend/ledger.ts',
    name: 'SpendLedger',
  },
  {
    asks: 'When is a webhook tried again that was not taken?',
    file: 'actors/webhook/ladder.ts',
    name: 'nextStep',
  },
  {
    asks: 'Where does a webhook leave the customer’s network?',
    file: 'edge/webhooks/relay.ts',
    name: 'WebhookRelay',
  },
  { asks: 'Where is the list of all REST operations?', file: 'protocol/routes.ts', name: 'ROUTES' },
  { asks: 'Where are all error codes with their statuses?', file: 'protocol/errors.ts', name: 'ERRORS' },
  {
    asks: 'Who is granted the lease of an account’s leader edge, and under which epoch?',
    file: 'actors/edge-link/lease.ts',
    name: 'claimLease',
  },
  {
    asks: 'What happens in a request at the cloud between its credential and its handler, in which order?',
    file: 'gateway/http/pipeline.ts',
    name: 'createPipeline',
  },
  { asks: 'When does the schedule of a sweep policy run next?', file: 'actors/sweep/cron.ts', name: 'nextRunAtMs' },
  { asks: 'What does a transfer make of a payment?', file: 'actors/payment/book.ts', name: 'PaymentBook' },
  {
    asks: 'How is a CSV file of an import read?',
    file: 'actors/migration/formats/csv.ts',
    name: 'createCsvReader',
  },
  { asks: 'Which node serves which shard?', file: 'cluster/place.ts', name: 'placeOf' },
  { asks: 'Which settings does a cloud node read, and how?', file: 'supervision/config.ts', name: 'readConfig' },
  { asks: 'Which pages has the web console?', file: 'console/app/pages.ts', name: 'PAGES' },
  {
    asks: 'Which capabilities is an account composed of?',
    file: 'actors/account/capabilities.ts',
    name: 'CAPABILITIES',
  },
];
