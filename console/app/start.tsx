/** The first script: who is signed in, then the page of the address. */
import '../styles/console.css';
import '../ui/together.ts';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { startPulse } from './live.ts';
import { followLinks } from './location.ts';
import { forgetReads } from './read.ts';
import { session, start } from './session.ts';
import { App } from './shell.tsx';

followLinks();
startPulse();
effect(() => {
  if (session.value.state === 'out') forgetReads();
});
render(<App />, document.getElementById('app')!);
void start();
