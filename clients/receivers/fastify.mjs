/** A receiver on Fastify 5. FLOCK_SECRETS: all secrets in use, apart by blanks; PORT. */
import Fastify from 'fastify';
import { verifyWebhook } from 'flock-client/webhooks';
import { store } from './store.mjs';

const secrets = process.env.FLOCK_SECRETS.split(' ');
const app = Fastify({ logger: { level: 'error' } });

// In a scope of its own, so that other routes have their JSON parsed.
app.register(async (hooks) => {
  hooks.removeAllContentTypeParsers();
  hooks.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  hooks.post('/hooks', async (request, reply) => {
    const verdict = await verifyWebhook(request.body, request.headers, secrets);
    if (!verdict.ok) return reply.code(401).send(verdict.message);
    // What it throws was not stored: Fastify answers 500, and the delivery is sent again.
    await store(verdict.event);
    return reply.code(204).send();
  });
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
console.log(`listening ${app.server.address().port}`);
