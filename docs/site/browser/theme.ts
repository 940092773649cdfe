/** Light or dark before the first paint, where somebody has chosen. */
const chosen = localStorage.getItem('flock-docs-theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
document.documentElement.classList.add('scripts');
