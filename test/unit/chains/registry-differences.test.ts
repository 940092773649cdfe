import test from 'ava';
import { shippedRegistry, type Registry } from '../../../chains/catalogue.ts';
import { registryDifferences } from '../../../chains/registry-differences.ts';
import { routesOf } from '../../../chains/routes.ts';
import { versionOf } from '../../support/edge/registry.ts';

const USDC = shippedRegistry.tokens.find(({ symbol }) => symbol === 'USDC')!;
const onEth = USDC.deployments.find(({ chain }) => chain === 'eth')!;
const told = (current: Registry, next: Registry) =>
  registryDifferences(current, next).map(({ symbol, chain, to, field, was, becomes }) =>
    [symbol, chain, to, field, was, becomes].join(' '),
  );

test('treasury K8: every field that a version has otherwise is told with what it was, and nothing else', (t) => {
  t.deepEqual(told(shippedRegistry, versionOf(2)), [], 'number and date are no change of a token');
  const changed = versionOf(2, (copy) => {
    const entry = copy.tokens.find(({ symbol }) => symbol === 'USDC')!;
    entry.symbol = 'USDCX';
    Object.assign(
      entry.deployments.find(({ chain }) => chain === 'eth')!,
      {
        deprecated: true,
        sweepable: false,
        hazards: ['blocklist', 'pausable'],
        tokenProgram: 'token',
      },
    );
  });
  t.deepEqual(
    told(shippedRegistry, changed).sort(),
    [
      'USDCX   symbol USDC USDCX',
      'USDCX eth  deprecated false true',
      `USDCX eth  hazards ${(onEth.hazards ?? []).join(', ')} blocklist, pausable`,
      'USDCX eth  sweepable true false',
      'USDCX eth  tokenProgram  token',
    ].sort(),
  );
  t.true(
    registryDifferences(shippedRegistry, changed).every(
      ({ chain, contract }) => (chain === null) === (contract === null),
    ),
  );
});

test('treasury K8, H1: a token that is new, a chain that is no longer unsupported, routes that open and close', (t) => {
  const [open, other] = routesOf(shippedRegistry.tokens);
  const was = versionOf(2, (copy) => copy.routes.push(open!));
  const next = versionOf(3, (copy) => {
    copy.routes.push(other!);
    const entry = copy.tokens.find(({ unsupportedChains }) => unsupportedChains.length > 0)!;
    const [left] = entry.unsupportedChains.splice(0, 1);
    entry.deployments.push({ ...onEth, chain: left!.chain, contract: 'new' });
  });
  const lines = told(was, next);
  t.true(lines.includes(`${open!.symbol} ${open!.from} ${open!.to} route open closed`), lines.join('\n'));
  t.true(lines.includes(`${other!.symbol} ${other!.from} ${other!.to} route closed open`));
  t.true(
    lines.some((line) => /contract {2}new$/.test(line)),
    lines.join('\n'),
  );
});
