import test from 'ava';
import { WALLETS_MAX } from '../../../actors/treasury/decide.ts';
import { placed, tankOf } from '../../../actors/treasury/view.ts';
import { isAllowed, warningsFor } from '../../../actors/treasury/wallet-facts.ts';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { allowedOf, readTreasuries } from '../../../edge/sweeps/treasuries.ts';
import { ALLOWED_MAX } from '../../../protocol/frames.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import type { AccountCommand } from '../../../model/account/capabilities.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import {
  commands,
  enrolled,
  keyVector,
  NOW_MS,
  OTHER_IDENTITY,
  pushedKey,
  TestAccount,
} from '../../support/account.ts';

const walletOf = (chain: Chain, address: string | null, tag: string | null = null): AccountCommand => ({
  type: 'create_treasury_wallet',
  wallet: {
    id: newId('wal', NOW_MS),
    chain,
    source: address === null ? 'derived' : 'external',
    address,
    tag,
    label: null,
  },
});
const hexAddress = (index: number) => `0x${index.toString(16).padStart(40, 'a')}`;

test('treasury W1: a derived wallet is at M/1/1 of the pinned identity, once per chain, where its chain is ready', (t) => {
  const account = new TestAccount();
  t.is(account.refused(walletOf('eth', null)).code, 'CHAIN_NOT_READY');
  account.accept(commands.enrol());
  const { reply } = account.accept(walletOf('eth', null) as never) as { reply: { id: string } };
  const { addresses } = keyVector('evm');
  const treasury = addresses.find(({ relativePath }) => relativePath === '1/1');
  t.is(placed(account.state, account.state.treasuryWallets[0]!).derivationPath, "m/44'/60'/0'/1/1");
  if (treasury !== undefined) t.is(placed(account.state, account.state.treasuryWallets[0]!).address, treasury.address);
  t.like(account.refused(walletOf('eth', null)), {
    code: 'CONFLICT',
    details: { reason: 'wallet_exists', walletId: reply.id },
  });
  t.notThrows(() => account.accept(walletOf('base', null)), 'another network of the same key');
  for (const chain of ['sol', 'xlm'] as const)
    t.like(account.refused(walletOf(chain, null)), { code: 'INVALID_INPUT', details: { reason: 'external_only' } });
  t.deepEqual(account.folded().treasuryWallets, account.state.treasuryWallets);
});

test('treasury W1: after a rotation a derived wallet is that of the new identity', (t) => {
  const account = enrolled();
  account.accept(walletOf('eth', null));
  const [wallet] = account.state.treasuryWallets;
  const before = placed(account.state, wallet!).address;
  account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] }));
  t.is(placed(account.state, wallet!).address, before, 'until the owner has decided');
  t.is(account.refused(walletOf('base', null)).code, 'CHAIN_NOT_READY');
  account.accept({
    type: 'decide_rotation',
    rotationId: account.state.rotation!.id,
    decision: 'approve',
    byUser: 'usr_1',
    addressIds: Array.from({ length: 10 }, () => newId('adr', NOW_MS)),
  });
  t.not(placed(account.state, wallet!).address, before);
});

test('treasury W1: an external wallet is a destination of its chain, once with its tag, and there are not endlessly many', (t) => {
  const account = enrolled();
  t.is(account.refused(walletOf('eth', '0x0000000000000000000000000000000000000000')).code, 'INVALID_ADDRESS');
  t.is(account.refused(walletOf('eth', 'nowhere')).code, 'INVALID_ADDRESS');
  account.accept(walletOf('xrp', 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf', '7'));
  account.accept(walletOf('xrp', 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf', '8'));
  t.is(account.refused(walletOf('xrp', 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf', '8')).code, 'CONFLICT');
  for (let index = 2; index < WALLETS_MAX; index += 1) account.accept(walletOf('eth', hexAddress(index)));
  t.like(account.refused(walletOf('eth', hexAddress(WALLETS_MAX))), {
    code: 'CONFLICT',
    details: { reason: 'wallet_limit', limit: WALLETS_MAX },
  });
  t.true(JSON.stringify(account.state.treasuryWallets).length < 32_768, 'a small part of the snapshot');
  account.accept({ type: 'suspend', suspended: true, byUser: 'usr_1' });
  t.is(account.refused(walletOf('tron', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')).code, 'ACCOUNT_SUSPENDED');
});

test('treasury W7: a funding wallet is the tank of the pinned identity, one for a chain, where there is a tank', (t) => {
  const account = new TestAccount();
  const create = (chain: Chain): AccountCommand => ({
    type: 'create_funding_wallet',
    wallet: { id: newId('fwl', NOW_MS), chain, label: null, lowBalance: '5' },
  });
  t.is(tankOf(account.state, 'eth'), null);
  t.is(account.refused(create('eth')).code, 'CHAIN_NOT_READY');
  account.accept(commands.enrol());
  account.accept(create('eth'));
  t.is(tankOf(account.state, 'eth')?.path, "m/44'/60'/0'/1/0");
  t.like(account.refused(create('eth')), {
    code: 'CONFLICT',
    details: { reason: 'wallet_exists', walletId: account.state.fundingWallets[0]!.id },
  });
  t.notThrows(() => account.accept(create('bsc')));
  t.is(account.refused(create('sol')).code, 'CHAIN_NOT_READY');
  t.is(tankOf(account.state, 'sol'), null);
  t.deepEqual(account.folded().fundingWallets, account.state.fundingWallets);
});

test('treasury W10: a tank that has become low is told once, and again only after it held a fifth more than its bound', (t) => {
  const account = enrolled(),
    id = newId('fwl', NOW_MS);
  account.accept({ type: 'create_funding_wallet', wallet: { id, chain: 'eth', label: null, lowBalance: null } });
  const told = (available: string, of = id) => {
    const { rows } = account.accept({
      type: 'note_funding_level',
      id: of,
      address: tankOf(account.state, 'eth')!.address,
      available,
      lowBalance: '100',
      sweepsRemaining: '9',
    });
    t.deepEqual(account.folded().fundingWallets, account.state.fundingWallets);
    return rows.flatMap((one) => (one.table === 'publication' ? [JSON.parse(one.row.body)] : []));
  };
  t.deepEqual(told('100'), [], 'at its bound');
  const [event] = told('99');
  t.like(event, { event: 'funding_wallet_low', confirmations: null, data: { fundingWalletId: id, available: '99' } });
  t.is(event.data.address, tankOf(account.state, 'eth')!.address);
  for (const available of ['50', '99', '119', '0']) t.deepEqual(told(available), [], available);
  t.deepEqual(told('120'), [], 'filled');
  t.is(told('99').length, 1);
  t.deepEqual(told('0', newId('fwl', NOW_MS)), [], 'another wallet');
});

test('treasury W6: the tank is at the reserved change path, and on pooled chains at a hardened one of its own', (t) => {
  const account = enrolled();
  for (const chain of ['eth', 'polygon', 'bsc', 'avax', 'base'] as const)
    t.is(tankOf(account.state, chain)?.path, "m/44'/60'/0'/1/0", chain);
  for (const [chain, path] of [
    ['sol', "m/44'/501'/0'/1'/0'"],
    ['xlm', "m/44'/148'/0'/1'/0'"],
  ] as const)
    t.like(factsOf(chain).derivation, { kind: 'pool', gasTankPath: path });
});

test('treasury W3: whether the leader sweeps to a wallet is known when it said so, chain, address and tag included', (t) => {
  const addressAt = (text: string) => {
    const parsed = factsOf('eth').parseAddress(networkOf('eth'), text);
    return { address: isRefusal(parsed) ? null : parsed.canonical };
  };
  const problems: string[] = [],
    entries = readTreasuries([hexAddress(1), `base:${hexAddress(2)}`], problems),
    said = { registryVersion: 1, windowSeconds: 1, caps: [], ...allowedOf(entries) };
  const of = (chain: Chain, text: string, tag: string | null = null) => {
    const { address } = addressAt(text);
    return isAllowed(said, { chain, source: 'external', address, tag });
  };
  t.deepEqual(problems, []);
  t.deepEqual([of('eth', hexAddress(1)), of('bsc', hexAddress(1)), of('base', hexAddress(2))], [true, true, true]);
  t.deepEqual(
    [of('eth', hexAddress(2)), of('eth', hexAddress(3)), of('eth', hexAddress(1), '7')],
    [false, false, false],
  );
  const derived = { chain: 'eth', source: 'derived', address: hexAddress(9), tag: null } as const;
  t.is(isAllowed(said, derived), true, 'derived by the edge itself');
  t.is(isAllowed(null, derived), null);
  t.is(isAllowed({ registryVersion: 1, windowSeconds: 1, caps: [] }, derived), null, 'an edge of before');
  const many = Array.from({ length: ALLOWED_MAX / 5 + 1 }, (_, at) => hexAddress(at + 1));
  t.deepEqual(allowedOf(readTreasuries(many, [])), {}, 'too many for a heartbeat');
  t.is(allowedOf(readTreasuries(many.slice(1), [])).allowed?.length, ALLOWED_MAX);
});

test('treasury W3: an address with code on another network and none here is warned of; what cannot be asked warns of nothing', async (t) => {
  const warned = (code: Partial<Record<Chain, boolean | null>>, chain: Chain = 'eth') =>
    warningsFor(
      {
        enabled: () => ['eth', 'base', 'polygon', 'tron'],
        bind: async (_account, at) => {
          const hasCode = async () => {
            if (code[at] === null) throw new ChainUnavailable(at, 'away');
            return code[at] ?? false;
          };
          return { client: { hasCode } } as never;
        },
      },
      'acc' as never,
      chain,
      hexAddress(1),
    );
  t.deepEqual(await warned({ base: true }), ['contract_elsewhere']);
  t.deepEqual(await warned({ base: true, eth: true }), [], 'a contract here too');
  t.deepEqual(await warned({}), []);
  t.deepEqual(await warned({ base: true, eth: null }), []);
  t.deepEqual(await warned({ base: null, polygon: true }), ['contract_elsewhere']);
  t.deepEqual(await warned({ base: true }, 'tron'), [], 'no EVM network');
});
