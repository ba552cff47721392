// Runs before the first paint, so that a dark page never flashes white.
(() => {
  try {
    // A browser without a session key is signed out: skip loading the page that would only redirect.
    const { pathname, search } = location;
    if (localStorage.getItem('orch-session-key') === null && pathname !== '/login') {
      location.replace(`/login?next=${encodeURIComponent(pathname + search)}`);
    }
  } catch {
    // Storage is blocked: the page itself checks the session.
  }
  let mode = 'system';
  try {
    mode = localStorage.getItem('mode-watcher-mode') ?? 'system';
  } catch {
    // Storage is blocked: the system's preference decides.
  }
  const dark =
    mode === 'dark' || (mode !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark', dark);
  document.documentElement.style.colorScheme = dark ? 'dark' : 'light';
})();
