// Runs before the first paint, so that a dark page never flashes white.
(() => {
  let mode = 'system';
  try {
    mode = localStorage.getItem('mode-watcher-mode') ?? 'system';
  } catch {
    // If storage is blocked, the system's preference decides.
  }
  const dark =
    mode === 'dark' || (mode !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark', dark);
  document.documentElement.style.colorScheme = dark ? 'dark' : 'light';
})();
