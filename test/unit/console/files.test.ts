/** The console's files and how they are served. Console C1, C2, C21. */
import Fastify from 'fastify';
import test from 'ava';
import { buildConsole, type ConsoleFiles } from '../../../console/build.ts';
import { CONSOLE_POLICY, serveConsole } from '../../../gateway/pages/console.ts';
import { filesOf } from '../../support/tree.ts';

const files = await buildConsole();
const app = Fastify();
serveConsole(app, async () => files);

const brotliOf = (made: ConsoleFiles, ending: RegExp): number =>
  [...made].filter(([name]) => ending.test(name)).reduce((sum, [, { br }]) => sum + br.length, 0);

test('console C1: two builds of the same sources are the same bytes', async (t) => {
  const again = await buildConsole();
  t.deepEqual([...again.keys()], [...files.keys()]);
  for (const [name, { body, br, gzip }] of again) {
    t.deepEqual(Buffer.from(body), Buffer.from(files.get(name)!.body), name);
    t.deepEqual(Buffer.from(br), Buffer.from(files.get(name)!.br), name);
    t.deepEqual(Buffer.from(gzip), Buffer.from(files.get(name)!.gzip), name);
  }
});

test('console C21: script at start, all scripts and the style are within their bytes, and so is the first load', (t) => {
  const shell = Buffer.from(files.get('index.html')!.body).toString();
  const first = [...shell.matchAll(/\/console\/([^"]+)"/g)].map(([, name]) => files.get(name!)!.br.length);
  const start = [...shell.matchAll(/\/console\/([^"]+\.js)"/g)].map(([, name]) => files.get(name!)!.br.length);
  const sum = (bytes: readonly number[]): number => bytes.reduce((all, one) => all + one, 0);
  const figures = {
    first: sum(first) + files.get('index.html')!.br.length,
    start: sum(start),
    all: brotliOf(files, /\.js$/),
    css: brotliOf(files, /\.css$/),
  };
  t.log(figures);
  t.true(figures.first <= 90_000 && figures.start <= 60_000 && figures.all <= 180_000 && figures.css <= 12_000);
  t.true(first.length + 1 <= 8, 'with the shell itself');
});

test('console C1: unknown paths give the shell, missing files 404, files of a content name stay for ever', async (t) => {
  const get = (url: string, accepts = '') => app.inject({ url, headers: { 'accept-encoding': accepts } });
  const shell = await get('/console/o/org_x/live/addresses?chain=eth');
  t.is(shell.statusCode, 200);
  t.is(shell.headers['cache-control'], 'no-cache');
  t.regex(shell.body, /<div id="app">/);
  t.is((await get('/console/start-XXXXXXXX.js')).statusCode, 404);
  t.is((await get('/')).headers.location, '/console/');
  const [script] = [...files.keys()].filter((name) => name.startsWith('start-') && name.endsWith('.js'));
  for (const encoding of ['br', 'gzip']) {
    const answer = await get(`/console/${script!}`, encoding);
    t.is(answer.headers['content-encoding'], encoding);
    t.regex(String(answer.headers['cache-control']), /immutable/);
    t.is(answer.headers['content-type'], 'text/javascript; charset=utf-8');
  }
  t.is((await get(`/console/${script!}`)).headers['content-encoding'], undefined);
});

test('console C2: a strict policy; no script or style in the page, no markup from text, no other host', async (t) => {
  const { headers, body } = await app.inject({ url: '/console/' });
  t.is(headers['content-security-policy'], CONSOLE_POLICY);
  t.false(/unsafe|\*|https?:/.test(CONSOLE_POLICY));
  t.is(headers['referrer-policy'], 'no-referrer');
  t.is(headers['cross-origin-opener-policy'], 'same-origin');
  t.false(/<script(?![^>]*src=)|<style|\son[a-z]+=|style=/.test(body));
  const sources = filesOf(['console'], '.ts', '.tsx', '.css').filter(({ path }) => !path.startsWith('console/build'));
  t.true(sources.length > 30);
  const wrong = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) =>
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?:\/\/(?!example\.com)|style=/.test(
        line,
      )
        ? [`${path}:${at + 1} ${line.trim()}`]
        : [],
    ),
  );
  t.deepEqual(wrong, []);
});

test('a console that was not built is said to be so', async (t) => {
  const without = Fastify();
  serveConsole(without, async () => {
    throw new Error('not built');
  });
  t.is((await without.inject({ url: '/console/' })).statusCode, 500, 'the gateway makes SERVICE_UNAVAILABLE of it');
});
