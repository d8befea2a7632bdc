/** Pages that show nothing before their scripts have run, as the common builders leave them. */
import type { Chance } from './chance.js';
import type { Maker } from './made-page.js';

const PLEAS = [
  'You need to enable JavaScript to run this app.',
  'Please enable JavaScript to continue.',
  "We're sorry but this site doesn't work properly without JavaScript enabled. Please enable it to continue.",
  'Diese Anwendung benötigt JavaScript. Bitte aktivieren Sie JavaScript in Ihrem Browser.',
  'Veuillez activer JavaScript pour utiliser cette application.',
  'Necesita activar JavaScript para ejecutar esta aplicación.',
  'Для работы приложения включите JavaScript.',
  'このアプリを実行するには JavaScript を有効にする必要があります。',
];

function plea(chance: Chance, share = 0.7): string {
  return chance.maybe(
    share,
    `<noscript>${chance.odds(0.5) ? chance.pick(PLEAS) : `<strong>${chance.pick(PLEAS)}</strong>`}</noscript>`,
  );
}

/** What heads hold beside: icons, cards for social sites, inline styles, what counts visits. */
function head(chance: Chance, more: string, least = 0): string {
  return `<head><meta charset="utf-8"><title>${chance.name()} ${chance.name()}</title><meta name="viewport" content="width=device-width, initial-scale=1">
    ${chance.maybe(0.6, `<meta name="description" content="${chance.sentence()}">`)}${chance.maybe(0.5, `<link rel="icon" href="/favicon.${chance.pick(['ico', 'svg'])}">`)}
    ${chance.maybe(0.5, `<meta property="og:title" content="${chance.name()}"><meta property="og:image" content="/card.png"><meta property="og:description" content="${chance.prose(120)}">`)}
    ${chance.maybe(0.4, `<link rel="preconnect" href="https://fonts.gstatic.com"><link href="https://fonts.googleapis.com/css2?family=Inter" rel="stylesheet">`)}
    ${chance.maybe(0.4, `<style>${chance.styles(chance.between(200, 12_000))}</style>`)}${more}
    ${chance.maybe(0.3, `<script async src="https://www.googletagmanager.com/gtag/js?id=G-${chance.hex(8)}"></script><script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}gtag('js',new Date());gtag('config','G-${chance.hex(8)}');</script>`)}
    ${chance.maybe(0.2, `<script type="application/ld+json">{"@context":"https://schema.org","@type":"WebSite","name":"${chance.name()}","description":"${chance.prose(chance.between(100, 2_000))}"}</script>`)}
    ${least > 0 ? `<!-- ${chance.prose(least)} -->` : ''}</head>`;
}

function tagManager(chance: Chance): string {
  return chance.maybe(
    0.25,
    `<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-${chance.hex(6)}" height="0" width="0" style="display:none;visibility:hidden"></iframe></noscript>`,
  );
}

/** What turns while the page loads. */
function spinner(chance: Chance): string {
  return chance.pick([
    '',
    '',
    '<div class="spinner"><div></div><div></div></div>',
    `<div class="loader">${chance.pick(['Loading…', 'Loading...', 'Wird geladen…', 'Chargement…', '加载中', 'Please wait'])}</div>`,
    `<svg viewBox="0 0 50 50" class="spin"><circle cx="25" cy="25" r="20" fill="none"/></svg>`,
    `<img src="/logo.svg" alt="${chance.name()}" class="splash">`,
    `<p class="brand">${chance.name()}</p>`,
  ]);
}

const reactCra: Maker = (chance) => ({
  html: `<!doctype html><html lang="en">${head(chance, `<script defer="defer" src="/static/js/main.${chance.hex(8)}.js"></script><link href="/static/css/main.${chance.hex(8)}.css" rel="stylesheet">`)}<body>${tagManager(chance)}${plea(chance, 0.9)}<div id="root">${spinner(chance)}</div></body></html>`,
});

const vite: Maker = (chance) => ({
  html: `<!doctype html><html lang="${chance.pick(['en', 'de', 'ja'])}">${head(chance, `<script type="module" crossorigin src="/assets/index-${chance.hex(8)}.js"></script>${chance.times(0, 6, () => `<link rel="modulepreload" crossorigin href="/assets/${chance.word()}-${chance.hex(8)}.js">`)}<link rel="stylesheet" crossorigin href="/assets/index-${chance.hex(8)}.css">`)}<body><div id="${chance.pick(['root', 'app'])}">${spinner(chance)}</div>${plea(chance, 0.2)}</body></html>`,
});

const vueCli: Maker = (chance) => ({
  html: `<!DOCTYPE html><html lang="">${head(
    chance,
    chance.times(1, 8, () => `<link href="/js/chunk-${chance.hex(8)}.js" rel="prefetch">`),
  )}<body>${plea(chance, 0.9)}<div id="app">${spinner(chance)}</div><script src="/js/chunk-vendors.${chance.hex(8)}.js"></script><script src="/js/app.${chance.hex(8)}.js"></script></body></html>`,
});

const angular: Maker = (chance) => {
  const element = chance.odds(0.8) ? 'app-root' : 'portal-root';
  return {
    html: `<!doctype html><html lang="en" data-critters-container>${head(chance, '<base href="/">')}<body${chance.maybe(0.4, ' class="mat-typography"')}><${element}>${spinner(chance)}</${element}>${plea(chance, 0.4)}<script src="runtime.${chance.hex(16)}.js" type="module"></script><script src="polyfills.${chance.hex(16)}.js" type="module"></script><script src="main.${chance.hex(16)}.js" type="module"></script></body></html>`,
  };
};

const nextClient: Maker = (chance) => ({
  html: `<!DOCTYPE html><html lang="en">${head(chance, `<noscript data-n-css=""></noscript>${chance.times(3, 12, () => `<script src="/_next/static/chunks/${chance.word()}-${chance.hex(16)}.js" defer=""></script>`)}`)}<body>${tagManager(chance)}<div id="__next">${spinner(chance)}</div><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{"text":"${chance.prose(chance.between(0, 8_000))}"}},"page":"/","query":{},"buildId":"${chance.hex(20)}","nextExport":true,"autoExport":true,"isFallback":false}</script></body></html>`,
});

/** The newer Next streams its state in scripts. */
const nextStreamed: Maker = (chance) => ({
  html: `<!DOCTYPE html><html lang="en">${head(
    chance,
    chance.times(3, 9, () => `<script src="/_next/static/chunks/${chance.hex(16)}.js" async=""></script>`),
  )}<body class="__className_${chance.hex(6)}">${chance.maybe(0.6, '<div hidden=""><!--$--><!--/$--></div>')}<!--$!--><template data-dgst="BAILOUT_TO_CLIENT_SIDE_RENDERING"></template>${spinner(chance)}<!--/$-->${chance.times(3, 12, () => `<script>self.__next_f.push([1,"${chance.hex(3)}:${chance.prose(chance.between(100, 1_500))}"])</script>`)}</body></html>`,
});

const nuxt: Maker = (chance) => ({
  html: `<!DOCTYPE html><html>${head(chance, `<link rel="modulepreload" as="script" crossorigin href="/_nuxt/entry.${chance.hex(8)}.js"><script type="module" src="/_nuxt/entry.${chance.hex(8)}.js" crossorigin></script>`)}<body><div id="__nuxt">${chance.maybe(0.5, '<div id="nuxt-loading" aria-live="polite" role="status"><div>Loading...</div></div>')}</div><script>window.__NUXT__={serverRendered:false,config:{public:{},app:{baseURL:"/",buildAssetsDir:"/_nuxt/"}}}</script></body></html>`,
});

const svelteKit: Maker = (chance) => {
  const id = chance.hex(7);
  return {
    html: `<!DOCTYPE html><html lang="en">${head(
      chance,
      chance.times(2, 6, () => `<link rel="modulepreload" href="/_app/immutable/chunks/${chance.hex(8)}.js">`),
    )}<body data-sveltekit-preload-data="hover"><div style="display: contents">${spinner(chance)}<script>{__sveltekit_${id} = {base: ""};const element = document.currentScript.parentElement;Promise.all([import("/_app/immutable/entry/start.${chance.hex(8)}.js"),import("/_app/immutable/entry/app.${chance.hex(8)}.js")]).then(([kit, app]) => {kit.start(app, element);});}</script></div></body></html>`,
  };
};

const gatsby: Maker = (chance) => ({
  html: `<!DOCTYPE html><html>${head(chance, '')}<body>${chance.maybe(0.9, `<noscript id="gatsby-noscript">This app works best with JavaScript enabled.</noscript>`)}<div id="___gatsby"></div><script id="gatsby-script-loader">/*<![CDATA[*/window.pagePath="/";/*]]>*/</script><script src="/polyfill-${chance.hex(20)}.js" nomodule=""></script>${chance.times(2, 5, () => `<script src="/${chance.word()}-${chance.hex(20)}.js" async=""></script>`)}</body></html>`,
});

const ember: Maker = (chance) => ({
  html: `<!DOCTYPE html><html>${head(chance, `<meta name="${chance.word()}/config/environment" content="%7B%22modulePrefix%22%3A%22${chance.hex(200)}%22%7D">`, 300)}<body>${plea(chance, 0.3)}${chance.odds(0.5) ? '<div id="ember-app"></div>' : ''}<script src="/assets/vendor-${chance.hex(32)}.js"></script><script src="/assets/${chance.word()}-${chance.hex(32)}.js"></script><div id="ember-basic-dropdown-wormhole"></div></body></html>`,
});

const flutter: Maker = (chance) => ({
  html: `<!DOCTYPE html><html>${head(chance, '<base href="/"><link rel="manifest" href="manifest.json"><script src="flutter.js" defer></script>', chance.between(1_500, 3_000))}<body>${spinner(chance)}<script>window.addEventListener('load', function(ev) {_flutter.loader.loadEntrypoint({serviceWorker: {serviceWorkerVersion: "${chance.between(1e8, 9e8)}"},onEntrypointLoaded: function(engineInitializer) {engineInitializer.initializeEngine().then(function(appRunner) {appRunner.runApp();});}});});</script></body></html>`,
});

const angularJs: Maker = (chance) => ({
  html: `<!doctype html><html${chance.maybe(0.5, ` ng-app="${chance.word()}"`)}>${head(chance, '', 2_000)}<body ng-controller="Main as main" ng-cloak><div ui-view></div><div id="view" ng-view></div><script src="/bower_components/angular/angular.min.js"></script><script src="/scripts/app.${chance.hex(6)}.js"></script></body></html>`,
});

const webComponents: Maker = (chance) => {
  const element = `${chance.word()}-${chance.pick(['shell', 'app', 'page'])}`;
  return {
    html: `<!doctype html><html lang="en">${head(chance, `<script type="module" src="/src/${element}.js"></script>`, 2_100)}<body><${element}></${element}>${plea(chance, 0.4)}</body></html>`,
  };
};

/** Nobody's builder: an element with a name of its own. */
const homeMade: Maker = (chance) => ({
  html: `<!doctype html><html>${head(chance, '', 2_100)}<body class="${chance.word()}"><div id="${chance.word()}-${chance.pick(['container', 'view', 'stage'])}"></div>${spinner(chance)}<script src="/${chance.pick(['bundle', 'dist/main', 'js/all', 'build/out'])}.${chance.hex(6)}.js"></script></body></html>`,
});

const inlineState: Maker = (chance) => ({
  html: `<!doctype html><html>${head(chance, '')}<body><div id="${chance.pick(['root', 'app', 'react-root', 'main-app'])}"></div><script>window.__INITIAL_STATE__=${JSON.stringify({ items: Array.from({ length: chance.between(5, 200) }, () => ({ title: chance.sentence(), id: chance.hex(8) })) })}</script><script src="/build/client.${chance.hex(8)}.js"></script></body></html>`,
});

/** Around the empty middle a frame is served: a name above, a line of rights below. */
const framed: Maker = (chance) => ({
  html: `<!doctype html><html>${head(chance, '')}<body><header><span class="logo">${chance.name()}</span></header><main><div id="${chance.pick(['app', 'root'])}">${spinner(chance)}</div></main><footer>© 2026 ${chance.name()}. All rights reserved.</footer>${plea(chance, 0.5)}<script src="/app.${chance.hex(8)}.js"></script></body></html>`,
});

export const SHELLS: Readonly<Record<string, Maker>> = {
  reactCra,
  vite,
  vueCli,
  angular,
  nextClient,
  nextStreamed,
  nuxt,
  svelteKit,
  gatsby,
  ember,
  flutter,
  angularJs,
  webComponents,
  homeMade,
  inlineState,
  framed,
};
