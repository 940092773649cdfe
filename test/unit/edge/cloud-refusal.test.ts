/** What of a refusal of the cloud reaches the edge's caller. */
import test from 'ava';
import { cloudRefusal } from '../../../edge/answers/cloud-refusal.ts';
import { everyNameIn } from '../../../protocol/input-problems.ts';
import { ROUTES } from '../../../protocol/routes.ts';

const ISSUER = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  PAYEE = 'GDHQV3MQTLBRE4CSA7TGX3LVPX7RVATYUSATVL3SNJPNSWQHA4QRJEVH',
  OTHER = 'GBW3ODYS4I2WX6WQZWKQ4RGQX2NYRB6UORTT73JTSXDMJGJM6NYKS7CH';
const sent = JSON.stringify({ chain: 'xlm', to: PAYEE, tokenContract: `USDC:${ISSUER}` });
const detailsOf = (details: Record<string, unknown>) =>
  cloudRefusal({ code: 'DESTINATION_OPT_IN_REQUIRED', message: 'no line', details }, (text) => sent.includes(text))
    .details;

test('§4.2 details name the asset that the caller named, issuer and all, and no other', (t) => {
  const own = { chain: 'xlm', asset: `USDC:${ISSUER}`, destination: PAYEE };
  t.deepEqual(detailsOf(own), own);
  t.deepEqual(detailsOf({ ...own, asset: `USDC:${OTHER}` }), { chain: 'xlm', destination: PAYEE });
  t.deepEqual(detailsOf({ ...own, asset: `EURC:${ISSUER}` }), { chain: 'xlm', destination: PAYEE });
  const cut = [ISSUER.slice(0, 12), ISSUER.slice(12, 24), OTHER.slice(0, 15)].join('-');
  t.deepEqual(detailsOf({ ...own, asset: cut }), { chain: 'xlm', destination: PAYEE }, 'joined of parts');
});

test('§4.2 details name a field, or a limit, however long its name is, and no other long word', (t) => {
  const detailsWith = (details: Record<string, unknown>) =>
    cloudRefusal({ code: 'AMOUNT_CAP_EXCEEDED', message: 'no', details }, () => false).details;
  t.deepEqual(detailsWith({ limit: 'maxInFlightCount', cap: '3' }), { limit: 'maxInFlightCount', cap: '3' });
  t.deepEqual(detailsWith({ limit: 'TLaUfVPqDgREswJTAmNsXbQfm', cap: '3' }), { cap: '3' });
  const names = new Set(
    [ROUTES.createBridgePolicy.body, ROUTES.createSweepPolicy.body].flatMap((schema) => [...everyNameIn(schema)]),
  );
  t.true(names.has('destinationWalletId') && names.has('pauseOnConsecutiveFailures'));
  for (const field of [...names, 'keys.1.xpub']) {
    const read = cloudRefusal(
      { code: 'INVALID_INPUT', message: 'no', details: { field, known: [field] } },
      () => false,
    );
    t.deepEqual(read.details, { field, known: [field] });
  }
});
