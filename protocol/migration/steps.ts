/** The steps of a migration in their order: where each is taken, and by which command or path. Spec §4.8. */
import type { Assessed, ChainOutlook, MigrationAction, MigrationCase, MigrationPlace } from './words.ts';

export interface Step {
  /** From one. */
  readonly order: number;
  readonly action: MigrationAction;
  readonly where: MigrationPlace;
  /** A command of the edge, a path of the cloud, or what to ask for. */
  readonly how: string;
  /** Another step does the same, or nothing is lost without it. */
  readonly optional: boolean;
  /** Once for each phrase, or for each part of a mixture. */
  readonly perPart: boolean;
}

type Way = Pick<Step, 'where' | 'how'>;
const atEdge = (how: string): Way => ({ where: 'edge', how: `flock-edge -- ${how}` });
const atCloud = (how: string): Way => ({ where: 'cloud', how });
const atCustodian = (how: string): Way => ({ where: 'custodian', how });

const WAYS: Readonly<Record<MigrationAction, Way>> = {
  split: atCloud('POST /v1/migration/detect-case'),
  start_edge_with_phrase: atEdge('sources import phrase --own'),
  import_phrase: atEdge('sources import phrase'),
  detect_path: atEdge('sources detect'),
  import_keys: atEdge('sources import key'),
  register_source: atEdge('sources register'),
  create_project: atCloud('POST /v1/migration/projects'),
  discover: atCloud('POST /v1/migration/{projectId}/discover'),
  upload_list: atCloud('POST /v1/migration/uploads'),
  validate: atCloud('POST /v1/migration/imports/{batchId}/validate'),
  commit: atCloud('POST /v1/migration/imports/{batchId}/commit'),
  observe: atCloud('GET /v1/migration/projects/{projectId}/observe'),
  activate: atCloud('POST /v1/migration/projects/{projectId}/activate'),
  ask_custodian: atCustodian('the list of addresses with their references; whether the keys can be handed over'),
  issue_new_addresses: atCloud('POST /v1/addresses'),
  move_funds: atCustodian('a payout of every balance to the addresses that were issued'),
};

interface Planned {
  readonly action: MigrationAction;
  readonly optional?: boolean;
  readonly perPart?: boolean;
}

/** The steps of a case; what a mixture needs depends on its parts. */
export function stepsOf(
  found: MigrationCase,
  asked: Pick<Assessed, 'mnemonics' | 'hasRawKeys' | 'providerHoldsKeys'>,
  chains: readonly ChainOutlook[],
): Step[] {
  const planned = planOf(found, asked, chains);
  return planned.map(({ action, optional = false, perPart = false }, at) => ({
    order: at + 1,
    action,
    ...WAYS[action],
    optional,
    perPart,
  }));
}

const CUSTODIAN: readonly MigrationAction[] = ['ask_custodian', 'issue_new_addresses', 'move_funds'];

function planOf(
  found: MigrationCase,
  { mnemonics, hasRawKeys, providerHoldsKeys }: Pick<Assessed, 'mnemonics' | 'hasRawKeys' | 'providerHoldsKeys'>,
  chains: readonly ChainOutlook[],
): Planned[] {
  const perPart = found === 'C' || found === 'E';
  const each = (...actions: MigrationAction[]): Planned[] => actions.map((action) => ({ action, perPart }));
  const unknownPath = each('import_phrase', 'detect_path');
  switch (found) {
    case 'A':
      return [
        { action: 'start_edge_with_phrase' },
        { action: 'import_phrase', optional: true },
        { action: 'register_source', optional: true },
        ...adoption(chains, false, false),
      ];
    case 'B':
    case 'C':
      return [...unknownPath, ...each('register_source'), ...adoption(chains, perPart, false)];
    case 'D':
      return [...each('import_keys', 'register_source'), ...adoption(chains, false, false)];
    case 'E':
      return [
        { action: 'split' },
        ...(mnemonics > 0 ? unknownPath : []),
        ...(hasRawKeys ? each('import_keys') : []),
        ...each('register_source'),
        ...adoption(chains, true, true),
        ...(providerHoldsKeys ? each(...CUSTODIAN) : []),
      ];
    case 'F':
      return each('upload_list', ...CUSTODIAN);
  }
}

/** From the project to the cutover. A list is needed where a scan finds nothing, and does instead elsewhere. */
function adoption(chains: readonly ChainOutlook[], eachSource: boolean, eachProject: boolean): Planned[] {
  const project = (...actions: MigrationAction[]): Planned[] =>
    actions.map((action) => ({ action, perPart: eachProject }));
  const found = chains.some(({ discovery }) => discovery),
    listed = chains.some(({ listRequired }) => listRequired);
  return [
    ...project('create_project'),
    ...(found ? [{ action: 'discover', perPart: eachSource } as const] : []),
    { action: 'upload_list', optional: !listed, perPart: eachProject },
    ...project('validate', 'commit', 'observe', 'activate'),
  ];
}
