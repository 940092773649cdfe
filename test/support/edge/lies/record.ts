/**
 * Writes what each signer says to each lie into test/vectors/refusals.json: `node test/support/edge/lies/record.ts`. A
 * change of that file is a change of what applications and operators read; test/unit/edge/signers/refusals.test.ts
 * holds it.
 */
import { writeFileSync } from 'node:fs';
import { recorded } from './refusals.ts';

const file = new URL('../../../vectors/refusals.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(recorded(), null, 1)}\n`);
