/** What the roles and endpoints of the living nodes leave undone, reported when it begins and when it ends. */
import type { NodeAbout } from '../model/ports/nodes.ts';
import type { Chain } from '../protocol/slugs.ts';

/** Nobody does it: a role, and of `watchers` the chain. */
export interface Lack {
  readonly role: 'gateway' | 'publisher' | 'schedules' | 'watchers';
  readonly chain?: Chain;
}

const MEANS: Readonly<Record<Lack['role'], string>> = {
  gateway: 'no node has the role gateway: accounts are nobody’s and no request is answered; start one with it',
  publisher:
    'no node has the roles gateway and publisher: webhooks wait, since an account’s deliveries leave from the node that owns it; start one with both',
  schedules:
    'no node has the role schedules: nothing is purged, no mail leaves and no day is billed; start one with it',
  watchers: 'no node has the role watchers and endpoints of this chain: its blocks wait; start one with both',
};

/** What is nobody's among these nodes. `known` are chains that some node followed before. */
export function lacksOf(nodes: readonly NodeAbout[], known: Iterable<Chain> = []): Lack[] {
  const has = (...roles: Lack['role'][]) => nodes.some((node) => roles.every((role) => node.roles.includes(role)));
  const chains = new Set([...known, ...nodes.flatMap((node) => node.chains)]);
  const followed = new Set(nodes.filter(({ roles }) => roles.includes('watchers')).flatMap((node) => node.chains));
  return [
    ...(has('gateway') ? [] : [{ role: 'gateway' as const }]),
    ...(has('gateway', 'publisher') ? [] : [{ role: 'publisher' as const }]),
    ...(has('schedules') ? [] : [{ role: 'schedules' as const }]),
    ...[...chains]
      .filter((chain) => !followed.has(chain))
      .sort()
      .map((chain) => ({ role: 'watchers' as const, chain })),
  ];
}

/** Nodes that may own accounts: those that answer for them, and where there are such, also send their webhooks. */
export function ownersAmong<Node extends { readonly about: NodeAbout | null }>(
  nodes: readonly Node[],
): readonly Node[] {
  const having = (role: string) => (node: Node) => node.about?.roles.includes(role) === true;
  const answering = nodes.filter(having('gateway')),
    sending = answering.filter(having('publisher'));
  return sending.length > 0 ? sending : answering;
}

export interface RoleWatch {
  /** Called with the living nodes, whenever they change. */
  look(nodes: readonly NodeAbout[], known?: Iterable<Chain>): void;
  /** 1 for each role that nobody fills, 0 for the others. */
  unserved(): Readonly<Record<Lack['role'], number>>;
}

export function createRoleWatch(log: Record<'warn' | 'info', (fields: object, message: string) => void>): RoleWatch {
  let lacking = new Map<string, Lack>();
  return {
    look(nodes, known) {
      const found = new Map(lacksOf(nodes, known).map((lack) => [`${lack.role} ${lack.chain ?? ''}`, lack]));
      for (const [key, lack] of found) if (!lacking.has(key)) log.warn(lack, MEANS[lack.role]);
      for (const [key, lack] of lacking) if (!found.has(key)) log.info(lack, 'a node has this role now');
      lacking = found;
    },
    unserved() {
      const roles = { gateway: 0, publisher: 0, schedules: 0, watchers: 0 };
      for (const { role } of lacking.values()) roles[role] = 1;
      return roles;
    },
  };
}
