/** Which document is where on the site. A document that is named nowhere is under "Inside Flock". */

/** A part of the site, with its own list of pages at the side. */
export interface Part {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  readonly groups: readonly Group[];
}
export interface Group {
  readonly title: string;
  /** Paths from the root of the repository; what ends in `*` takes every document below it. */
  readonly documents: readonly string[];
}

/** Written by hand; operations, events and errors are made of the catalogues and have parts of their own. */
export const PARTS: readonly Part[] = [
  {
    id: 'guides',
    title: 'Guides',
    lead: 'From nothing to money that is credited once: start here.',
    groups: [
      {
        title: 'Begin',
        documents: [
          'docs/guides/how-it-works.md',
          'docs/guides/quickstart-typescript.md',
          'docs/guides/quickstart-python.md',
          'docs/guides/quickstart-go.md',
          'docs/first-webhook.md',
        ],
      },
      {
        title: 'Build',
        documents: [
          'docs/guides/credit-safely.md',
          'docs/webhooks.md',
          'docs/guides/withdrawals.md',
          'docs/guides/sweeps.md',
          'docs/guides/payments.md',
          'docs/guides/testing.md',
          'docs/command-line.md',
        ],
      },
      { title: 'Go live', documents: ['docs/guides/going-live.md', 'docs/doctor.md'] },
      {
        title: 'Move here',
        documents: ['docs/guides/migration.md', 'docs/guides/moving-from.md'],
      },
      {
        title: 'Clients',
        documents: [
          'clients/typescript/README.md',
          'clients/python/README.md',
          'clients/go/README.md',
          'clients/receivers/README.md',
          'docs/guides/other-languages.md',
        ],
      },
    ],
  },
  {
    id: 'operate',
    title: 'Operate',
    lead: 'Run the edge, or a whole cloud: keys, backups, upgrades, and what to do when something is wrong.',
    groups: [
      {
        title: 'The edge',
        documents: [
          'docs/guides/edge-in-production.md',
          'docs/guides/key-ceremony.md',
          'docs/key-sources.md',
          'docs/signing.md',
        ],
      },
      {
        title: 'Day by day',
        documents: [
          'docs/guides/monitoring.md',
          'docs/guides/backup-and-restore.md',
          'docs/guides/upgrades.md',
          'docs/guides/releases.md',
          'docs/guides/rotations.md',
          'docs/several-nodes.md',
          'docs/sizing.md',
        ],
      },
      {
        title: 'Look up',
        documents: [
          'docs/configuration.md',
          'docs/operator-commands.md',
          'docs/metrics.md',
          'docs/logs.md',
          'docs/chains/endpoints.md',
        ],
      },
      { title: 'Safety', documents: ['docs/threat-model.md', 'SECURITY.md'] },
    ],
  },
  {
    id: 'runbooks',
    title: 'Runbooks',
    lead: 'One page for each alert and each incident: the symptom, the first look, the causes, what to do.',
    groups: [{ title: 'Runbooks', documents: ['docs/runbooks/README.md', 'docs/runbooks/*'] }],
  },
  {
    id: 'inside',
    title: 'Inside Flock',
    lead: 'How it is built, and why so: for those who check it or work on it.',
    groups: [
      {
        title: 'The whole',
        documents: ['docs/ARCHITECTURE.md', 'README.md', 'docs/GLOSSARY.md', 'docs/walks.md', 'docs/data-model.md'],
      },
      {
        title: 'Capabilities',
        documents: ['docs/treasury.md', 'docs/payments.md', 'docs/migration.md', 'docs/outgoing.md', 'docs/lists.md'],
      },
      { title: 'Chains', documents: ['docs/chains/*'] },
      { title: 'Decisions', documents: ['docs/decisions.md', 'docs/decisions/*'] },
      { title: 'Work on it', documents: ['docs/*', 'CHANGELOG.md', 'bench/README.md'] },
    ],
  },
];

/** Documents of which the site makes pages of its own. */
export const MADE_ELSEWHERE: ReadonlySet<string> = new Set(['docs/events.md']);
