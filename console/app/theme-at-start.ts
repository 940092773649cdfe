/** Runs before the first paint: the theme that this browser chose, else that of the system by itself. */
import { applyTheme, chosenTheme } from './theme.ts';

applyTheme(chosenTheme());
