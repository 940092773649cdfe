/** Issue 10, bad input: roles that leave a chain or the gateway without a node are reported. */
import test from 'ava';
import { createRoleWatch, lacksOf, ownersAmong } from '../../../cluster/roles.ts';
import type { NodeAbout } from '../../../model/ports/nodes.ts';
import { ROLES } from '../../../supervision/config.ts';

const about = (roles: string, chains: NodeAbout['chains'] = []): NodeAbout => ({
  version: '1.0.0',
  protocol: 1,
  roles: roles.split(' '),
  chains,
});
const ALL = ROLES.join(' ');

test('what nobody does, by the roles and endpoints of the nodes that live', (t) => {
  const cases: [NodeAbout[], string[]][] = [
    [[about(ALL, ['eth'])], []],
    [[about('gateway publisher'), about('watchers schedules', ['eth', 'btc'])], []],
    [[about('gateway'), about('publisher schedules')], ['publisher']],
    [[about('publisher watchers schedules', ['eth'])], ['gateway', 'publisher']],
    [[about('gateway publisher schedules', ['eth']), about('watchers', ['btc'])], ['watchers eth']],
    [[about('gateway publisher watchers')], ['schedules']],
    [[], ['gateway', 'publisher', 'schedules']],
  ];
  for (const [nodes, lacks] of cases)
    t.deepEqual(
      lacksOf(nodes).map(({ role, chain }) => (chain === undefined ? role : `${role} ${chain}`)),
      lacks,
    );
  t.deepEqual(lacksOf([about(ALL)], ['tron']), [{ role: 'watchers', chain: 'tron' }], 'one that was followed once');
});

test('a lack is reported when it begins and when it ends, once each, with the role', (t) => {
  const lines: string[] = [];
  const note = (level: string) => (fields: object) => void lines.push(`${level} ${JSON.stringify(fields)}`);
  const watch = createRoleWatch({ warn: note('warn'), info: note('info') });
  watch.look([about('gateway schedules')]);
  watch.look([about('gateway schedules'), about('watchers', ['eth'])]);
  t.deepEqual(watch.unserved(), { gateway: 0, publisher: 1, schedules: 0, watchers: 0 });
  watch.look([about('gateway schedules'), about(ALL)]);
  t.deepEqual(lines, ['warn {"role":"publisher"}', 'info {"role":"publisher"}']);
});

test('accounts live where their webhooks leave; without such a node, with one that answers; never without a gateway', (t) => {
  const node = (id: string, roles: string) => ({ id, about: about(roles) });
  const [web, all, rest] = [node('web', 'gateway'), node('all', ALL), node('rest', 'watchers publisher schedules')];
  const ids = (...nodes: (typeof web)[]) => ownersAmong(nodes).map(({ id }) => id);
  t.deepEqual(ids(web!, all!, rest!), ['all']);
  t.deepEqual(ids(web!, rest!), ['web']);
  t.deepEqual(ids(rest!), []);
});
