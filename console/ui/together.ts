/**
 * What pages share comes with the start as one script: each group of pages names this file, so that no part of it
 * becomes a file, and a request, of its own. Console C21.
 */
import '../app/ask.ts';
import '../app/location.ts';
import '../app/read.ts';
import '../app/session.ts';
import './dialog.tsx';
import './form.tsx';
import './parts.tsx';
import './secret.tsx';
import './states.tsx';
import './table.tsx';
import './text.ts';
import './wordmark.tsx';
