import { readFileSync } from 'node:fs';
import test from 'ava';
import { CHAINS } from '../../../protocol/slugs.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import {
  catalogueOf,
  checkAgainstChain,
  checkSuccession,
  deploymentsOf,
  findDeployment,
  parseRegistry,
  registryHash,
  shippedRegistry,
  type Registry,
} from '../../../chains/catalogue.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { ROOT } from '../../support/tree.ts';

const edit = (change: (copy: Registry) => void): Registry => {
  const copy = structuredClone(shippedRegistry);
  change(copy);
  return copy;
};
const tokenOf = (symbol: string, from: Registry = shippedRegistry) =>
  from.tokens.find((token) => token.symbol === symbol)!;

test('§2.5 every pair of token and chain is a deployment or listed as unsupported with a reason, never unknown', (t) => {
  for (const { symbol, deployments, unsupportedChains } of shippedRegistry.tokens) {
    t.deepEqual([...deployments, ...unsupportedChains].map(({ chain }) => chain).sort(), [...CHAINS].sort(), symbol);
  }
  t.is(deploymentsOf(shippedRegistry).length, 28);
});

test("G6 every contract of the registry stands in its chain's canonical text", (t) => {
  for (const { chain, contract } of deploymentsOf(shippedRegistry)) {
    t.is(factsOf(chain).parseToken(networkOf(chain), contract), contract, `${chain} ${contract}`);
  }
});

test('K1 C9-68 decimals belong to the deployment: USDT has 6 on eth and 18 on bsc', (t) => {
  const decimals = Object.fromEntries(tokenOf('USDT').deployments.map((one) => [one.chain, one.decimals]));
  t.deepEqual(decimals, { eth: 6, bsc: 18, polygon: 6, avax: 6, base: 6, tron: 6, sol: 6 });
  t.is(catalogueOf('bsc').get('0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d')?.decimals, 18);
  t.is(catalogueOf('eth').get('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')?.decimals, 6);
});

test('K2 a bridged token has its own entry and is never bridgeable', (t) => {
  t.true(
    ['USDC.e', 'USDT.e', 'DAI.e', 'USDbC'].every((symbol) =>
      tokenOf(symbol).deployments.every(({ kind }) => kind === 'bridged'),
    ),
  );
  t.true(deploymentsOf(shippedRegistry).every(({ kind, bridgeable }) => kind === 'native' || !bridgeable));
  const broken = edit((copy) => {
    tokenOf('USDbC', copy).deployments[0]!.bridgeable = true;
  });
  t.like(parseRegistry(broken), { ok: false, code: 'INVALID_INPUT' });
});

test('K3 a deprecated token stays monitored and in the catalogue of its chain', (t) => {
  const deprecated = deploymentsOf(shippedRegistry).filter((one) => one.deprecated);
  t.is(deprecated.length, 6);
  for (const { chain, contract } of deprecated) t.true(catalogueOf(chain).has(contract));
});

test('K4 an entry whose decimals the chain contradicts is named; one that agrees is not', (t) => {
  const token = catalogueOf('bsc').get('0x55d398326f99059fF775485246999027B3197955')!;
  t.is(checkAgainstChain(token, { symbol: 'anything', name: '', decimals: 18 }), null);
  t.like(checkAgainstChain(token, { symbol: 'USDT', name: '', decimals: 6 }), {
    code: 'CONFLICT',
    details: { catalogue: 18, onChain: 6 },
  });
});

test('K5 no entry says that a proxy is immutable: sweeps of every token pass the pre-check, so none may skip it by data', (t) => {
  t.true(deploymentsOf(shippedRegistry).every((one) => !('precheck' in one)));
  t.true(
    isRefusal(
      parseRegistry(
        edit((copy) => {
          Object.assign(tokenOf('USDT', copy).deployments[0]!, { precheck: false });
        }),
      ),
    ),
  );
});

test('G23 V15 a token is found by contract on its own chain, never by symbol', (t) => {
  t.like(findDeployment('eth', '0xdAC17F958D2ee523a2206206994597C13D831ec7'), { chain: 'eth', decimals: 6 });
  t.like(findDeployment('eth', 'USDT'), { ok: false, code: 'TOKEN_NOT_SUPPORTED' });
  t.like(findDeployment('eth', '0x55d398326f99059fF775485246999027B3197955'), {
    ok: false,
    code: 'TOKEN_NOT_ON_CHAIN',
  });
});

test('decisions 6: an older registry, a changed one of the same version and changed decimals are refused', (t) => {
  t.is(checkSuccession(shippedRegistry, structuredClone(shippedRegistry)), null);
  const older = edit((copy) => {
    copy.version = 1;
  });
  t.like(
    checkSuccession(
      edit((copy) => {
        copy.version = 2;
      }),
      older,
    ),
    { details: { reason: 'registry_older' } },
  );
  const inPlace = edit((copy) => {
    tokenOf('USDT', copy).name = 'x';
  });
  t.not(registryHash(inPlace), registryHash(shippedRegistry));
  t.like(checkSuccession(shippedRegistry, inPlace), { details: { reason: 'registry_changed_in_place' } });
  const decimals = edit((copy) => {
    copy.version = 2;
    tokenOf('USDT', copy).deployments[0]!.decimals = 7;
  });
  t.like(checkSuccession(shippedRegistry, decimals), {
    code: 'SIGNED_BATCH_REJECTED',
    details: { reason: 'registry_changes_decimals' },
  });
  const dropped = edit((copy) => {
    copy.version = 2;
    tokenOf('USDT', copy).deployments.shift();
  });
  t.like(checkSuccession(shippedRegistry, dropped), { details: { reason: 'registry_drops_a_token' } });
  const newer = edit((copy) => {
    copy.version = 2;
    tokenOf('USDT', copy).deployments[0]!.deprecated = true;
  });
  t.is(checkSuccession(shippedRegistry, newer), null);
});

test('a registry that leaves a chain unknown, lists a contract twice or has unknown fields is refused', (t) => {
  t.like(
    parseRegistry(
      edit((copy) => {
        tokenOf('DAI', copy).unsupportedChains.pop();
      }),
    ),
    { ok: false, details: { symbol: 'DAI' } },
  );
  t.like(
    parseRegistry(
      edit((copy) => {
        copy.tokens.push({ ...structuredClone(tokenOf('DAI', copy)), symbol: 'DAI2' });
      }),
    ),
    { ok: false },
  );
  t.like(parseRegistry({ version: 1, tokens: [], more: 1 }), { ok: false, code: 'INVALID_INPUT' });
});

test('found F79: a token that no release lists is refused with where the list is, and the README says what that means', (t) => {
  const refused = findDeployment('eth', '0x000000000000000000000000000000000000dEaD') as Refusal;
  t.is(refused.code, 'TOKEN_NOT_SUPPORTED');
  const { path } = ROUTE_LIST.find(({ operationId }) => operationId === 'listTokens')!;
  t.true(String(refused.details['next']).includes(`GET ${path}`));
  t.regex(
    readFileSync(`${ROOT}README.md`, 'utf8'),
    new RegExp(
      `\`GET ${path}\`\\):\\s+a token is added with a release,\\s+and until then its deposits are not credited`,
    ),
  );
});
