/**
 * Kinds of pages that were written after the first tuning, to see how it does on what it has never met: of these it found
 * 62 % of the doors and 85 % of the shells, and condemned one kind of eight. They have been tuned by since.
 */
import type { Chance } from './chance.js';
import type { Maker } from './made-page.js';

const head = (chance: Chance, title: string, more = '') =>
  `<head><meta charset="utf-8"><title>${title}</title>${chance.maybe(0.5, `<style>${chance.styles(chance.between(100, 5_000))}</style>`)}${more}</head>`;
const menu = (chance: Chance) => chance.times(3, 9, () => `<a href="/${chance.word()}">${chance.name()}</a> `);

/** Doors of makers that are not known by name. */
export const LATER_CHALLENGES: Readonly<Record<string, Maker>> = {
  proofOfWork: (chance) => ({
    html: `<!doctype html><html>${head(chance, chance.pick(['Bot Verification', 'Checking your browser', 'One moment, please...']))}<body><main><h1>Verifying that you are not a robot...</h1><progress max=100></progress><noscript>JavaScript is required.</noscript></main><script>const seed="${chance.hex(64)}",bits=${chance.between(12, 20)};${chance.script(1_200)};crypto.subtle.digest("SHA-256",new Uint8Array(8)).then(function(){document.cookie="pow=1";location.reload()})</script></body></html>`,
  }),
  cookieReload: (chance) => ({
    html: `<html><head><script>document.cookie="${chance.word()}=${chance.hex(24)};path=/;max-age=86400";window.location.reload(true);</script></head><body></body></html>`,
  }),
  crowdCaptcha: (chance) => ({
    status: chance.pick([200, 403]),
    html: `<html>${head(chance, 'Captcha challenge', '<script src="https://js.hcaptcha.com/1/api.js" async defer></script>')}<body><div><h1>${chance.word()}.example</h1><form action="" method="POST"><div class="h-captcha" data-sitekey="${chance.hex(30)}" data-callback="done"></div></form><p>This security check has been powered by the site's own guard.</p></div><script>function done(){setTimeout(function(){document.querySelector('form').submit()},500)}</script></body></html>`,
  }),
  accessDenied: (chance) => ({
    status: chance.pick([403, 200]),
    html: `<html>${head(chance, 'Access Denied')}<body><h1>Access Denied</h1><p>You don't have permission to access this page on this server. Our systems have detected automated requests from your network.</p><p>Reference #${chance.hex(8)}.${chance.hex(8)}</p></body></html>`,
  }),
  sliderPuzzle: (chance) => ({
    html: `<html lang="zh">${head(chance, '安全验证')}<body><div id="slider"></div><p>请完成安全验证后继续访问</p><script src="https://static.geetest.com/v4/gt4.js"></script><script>initGeetest4({captchaId:"${chance.hex(32)}",product:"bind"},function(c){c.appendTo("#slider");${chance.script(200)}})</script></body></html>`,
  }),
  portuguese: (chance) => ({
    status: chance.pick([200, 503]),
    html: `<html lang="pt">${head(chance, 'Aguarde um momento')}<body><h2>Verificando seu navegador</h2><p>Você será redirecionado em ${chance.between(3, 9)} segundos.</p><script>${chance.script(chance.between(300, 6_000))}</script></body></html>`,
  }),
  russian: (chance) => ({
    html: `<html lang="ru">${head(chance, 'Ой!')}<body><div class="wrapper"><span>Подтвердите, что запросы отправляли вы, а не робот</span><p>Нам очень жаль, но запросы с вашего устройства похожи на автоматические.</p><form method="POST" action="/checkcaptcha?key=${chance.hex(20)}"><input type="submit" value="Я не робот"></form></div><script src="/captcha_smart.${chance.hex(8)}.min.js"></script></body></html>`,
  }),
};

export const LATER_SHELLS: Readonly<Record<string, Maker>> = {
  blazor: (chance) => ({
    html: `<!DOCTYPE html><html>${head(chance, chance.name(), '<base href="/">')}<body><div id="app">Loading...</div><div id="blazor-error-ui">An unhandled error has occurred. <a href="" class="reload">Reload</a><a class="dismiss">🗙</a></div><script src="_framework/blazor.webassembly.js"></script></body></html>`,
  }),
  elm: (chance) => ({
    html: `<!DOCTYPE html><html>${head(chance, chance.name(), `<script src="/elm.${chance.hex(8)}.js"></script>`)}<body><div id="elm-node"></div><script>var app = Elm.Main.init({node: document.getElementById("elm-node"), flags: {token: localStorage.getItem("${chance.word()}"), version: "${chance.hex(8)}", width: innerWidth}});</script></body></html>`,
  }),
  dashboards: (chance) => ({
    html: `<!DOCTYPE html><html>${head(chance, 'Dash')}<body><div id="react-entry-point"><div class="_dash-loading">Loading...</div></div><footer><script id="_dash-config" type="application/json">{"url_base_pathname":null}</script><script src="/_dash-component-suites/dash/deps/react@16.v2_18.m${chance.between(1e9, 2e9)}.js"></script><script id="_dash-renderer" type="application/javascript">var renderer = new DashRenderer();</script></footer></body></html>`,
  }),
  streamed: (chance) => ({
    html: `<!doctype html><html lang="en">${head(chance, 'Streamlit', `<script type="module" crossorigin src="./static/js/index.${chance.hex(8)}.js"></script>`)}<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>`,
  }),
  gwt: (chance) => ({
    html: `<!doctype html><html>${head(chance, chance.name(), `<script src="${chance.word()}/${chance.word()}.nocache.js"></script>`)}<body><iframe src="javascript:''" id="__gwt_historyFrame" tabIndex='-1' style="position:absolute;width:0;height:0;border:0"></iframe><noscript><div>Your web browser must have JavaScript enabled in order for this application to display correctly.</div></noscript></body></html>`,
  }),
  ionic: (chance) => ({
    html: `<!DOCTYPE html><html>${head(chance, 'Ionic App', `<script type="module" src="build/app.esm.js"></script><script nomodule src="build/app.js"></script>`)}<body><ion-app></ion-app></body></html>`,
  }),
  skeleton: (chance) => ({
    html: `<!doctype html><html>${head(chance, chance.name())}<body><div id="root"><div class="sk-header"></div><div class="sk-list">${chance.times(3, 9, () => '<div class="sk-line"><span></span></div>')}</div></div><script>window.__CONFIG__={api:"/api/v${chance.between(1, 4)}"}</script><script src="/dist/app.js?v=${chance.hex(6)}"></script></body></html>`,
  }),
};

export const LATER_HONEST: Readonly<Record<string, Maker>> = {
  loginOfRouter: (chance) => ({
    html: `<html>${head(chance, chance.name())}<body><form id=login><input type=text name=u><input type=password name=p><input type=submit value="Log in"></form><script src="/js/md5.js"></script><script>${chance.script(800)}</script></body></html>`,
  }),
  splash: (chance) => ({
    html: `<html>${head(chance, chance.name())}<body><a href="/en/"><img src="/logo.png" alt=""></a><script src="/js/splash.js"></script></body></html>`,
  }),
  languageChoice: (chance) => ({
    html: `<html>${head(chance, chance.name())}<body><ul><li><a href="/de/">Deutsch</a><li><a href="/en/">English</a><li><a href="/fr/">Français</a></ul><script>${chance.script(600)}</script></body></html>`,
  }),
  diagram: (chance) => ({
    html: `<html>${head(chance, chance.name())}<body><h1>${chance.name()} ${chance.name()} diagram</h1><svg width=400 height=300>${chance.times(20, 80, () => `<rect x="${chance.between(0, 300)}" y="${chance.between(0, 200)}" width="20" height="9"/>`)}</svg>${menu(chance)}</body></html>`,
  }),
  quoteOfTheDay: (chance) => ({
    html: `<html>${head(chance, 'Quote')}<body><blockquote>${chance.sentence()}</blockquote><script src="/js/share.js"></script><script>${chance.script(400)}</script></body></html>`,
  }),
  blogOnBots: (chance) => ({
    html: `<html>${head(chance, 'Are you human?', '<script src="https://www.google.com/recaptcha/api.js" async></script>')}<body>${menu(chance)}${menu(chance)}<article><h1>Are you human?</h1><p>${chance.prose(chance.between(300, 2_000))} Press and hold.</p></article><form><textarea name=comment></textarea><div class="g-recaptcha" data-sitekey=x></div></form></body></html>`,
  }),
  statusPage: (chance) => ({
    html: `<html>${head(chance, 'Status')}<body><h1>All systems operational</h1><div id="chart"></div><script src="/static/chart.${chance.hex(8)}.js"></script></body></html>`,
  }),
  poem: (chance) => ({
    html: `<html>${head(chance, 'One moment...')}<body><h1>One moment</h1><p>${chance.prose(chance.between(120, 500))}</p><p>${menu(chance)}</p></body></html>`,
  }),
};
