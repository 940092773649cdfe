import { PublicKey } from '@solana/web3.js';
import { base58 } from '@scure/base';
import test from 'ava';
import fc from 'fast-check';
import { checkDestination, onCurve, parseAddress, parseToken } from '../../../../chains/sol/address.ts';
import { depositPath, gasTankPath } from '../../../../chains/sol/derive.ts';
import { solana } from '../../../../chains/sol/network.ts';

test('G6 7.1 property: 32 bytes → text → 32 bytes, and a wallet is what the SDK calls on curve', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
        const text = base58.encode(key);
        const parsed = parseAddress(solana, text);
        if (!parsed.ok) return t.fail(text);
        const wallet = PublicKey.isOnCurve(key);
        t.deepEqual(
          [parsed.canonical, parsed.kind, [...parsed.bytes], onCurve(key)],
          [text, wallet ? 'wallet' : 'pda', [...key], wallet],
        );
      }),
      { numRuns: 200 },
    ),
  );
});

test('7.1 texts of another length are refused; 64 bytes are treated as a secret', (t) => {
  for (const size of [0, 1, 31, 33, 63, 65])
    t.false(parseAddress(solana, base58.encode(new Uint8Array(size).fill(9))).ok);
  const secret = parseAddress(solana, base58.encode(new Uint8Array(64).fill(9)));
  t.is(secret.ok ? '' : secret.code, 'KEY_MATERIAL_REJECTED');
});

test('7.1 programs, sysvars, the incinerator and listed mints may not be paid', (t) => {
  const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const code = (text: string, listed: string[] = []) => {
    const parsed = parseAddress(solana, text);
    return parsed.ok
      ? checkDestination(
          solana,
          parsed,
          new Map(listed.map((contract) => [contract, { chain: 'sol', contract, symbol: 'X', decimals: 6 } as const])),
        )?.code
      : parsed.code;
  };
  for (const text of [
    '11111111111111111111111111111111',
    '1nc1nerator11111111111111111111111111111111',
    'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
    'SysvarRent111111111111111111111111111111111',
  ])
    t.is(code(text), 'INVALID_ADDRESS', text);
  t.deepEqual([code(mint, [mint]), code(mint)], ['INVALID_ADDRESS', undefined]);
  t.is(parseToken(solana, mint), mint);
  t.like(parseToken(solana, 'USDC'), { code: 'TOKEN_NOT_SUPPORTED' });
});

test('7.1 the gas tank is no deposit address', (t) => {
  t.is(depositPath(1), "m/44'/501'/1'/0'");
  t.is(gasTankPath, "m/44'/501'/0'/1'/0'");
});
