/** A receiver on Express 5. FLOCK_SECRETS: all secrets in use, apart by blanks; PORT. */
import express from 'express';
import { verifyWebhook } from 'flock-client/webhooks';
import { store } from './store.mjs';

const secrets = process.env.FLOCK_SECRETS.split(' ');
const app = express();

// Raw, on this path alone: express.json() before it would leave nothing that can be verified.
app.post('/hooks', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
  const verdict = await verifyWebhook(request.body, request.headers, secrets);
  if (!verdict.ok) return response.status(401).type('text').send(verdict.message);
  await store(verdict.event);
  response.status(204).end();
});

// What is thrown above was not stored: the delivery is sent again.
app.use((error, _request, response, _next) => {
  console.error(error.message);
  response.status(error.status ?? 500).end();
});

const server = app.listen(Number(process.env.PORT), '127.0.0.1', () =>
  console.log(`listening ${server.address().port}`),
);
