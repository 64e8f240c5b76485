// Notifies of waiting calls, if the user allows it.

const button = document.querySelector('[data-notify]');
if (button && 'Notification' in window && Notification.permission !== 'denied') {
  const name = () => {
    const granted = Notification.permission === 'granted';
    button.textContent = granted ? 'You are notified' : 'Notify me';
    if (granted) document.body.dataset.keep = ''; // keep the event stream while the page is hidden
  };
  button.hidden = false;
  name();
  button.addEventListener('click', async () => { await Notification.requestPermission(); name(); });
  let last = null;
  document.addEventListener('console:approvals', ({ detail: { waiting } }) => {
    if (last !== null && waiting > last && Notification.permission === 'granted' && document.hidden) {
      new Notification('A call waits for a person', { body: `${waiting} in all`, tag: 'approvals' });
    }
    last = waiting;
  });
}
