/** Honest pages that say little, and honest pages that hold what doors and shells are known by. */
import type { Chance } from './chance.js';
import type { Maker } from './made-page.js';

const counted = (chance: Chance) =>
  `<script async src="https://www.googletagmanager.com/gtag/js?id=G-${chance.hex(8)}"></script><script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}gtag('js',new Date());gtag('config','G-${chance.hex(8)}');</script>`;
const head = (chance: Chance, more = '') =>
  `<head><meta charset=utf-8><title>${chance.name()} ${chance.word()}</title>${chance.maybe(0.5, counted(chance))}${chance.maybe(0.5, `<style>${chance.styles(chance.between(100, 6_000))}</style>`)}${more}</head>`;
const scripts = (chance: Chance) =>
  `<script src="/js/jquery-3.7.1.min.js"></script><script src="/js/${chance.word()}.js"></script><script>$(function(){$(".${chance.word()}").on("click",function(){$(this).toggleClass("open")});${chance.maybe(0.4, chance.script(600))}})</script>`;
const navigation = (chance: Chance, least = 4, most = 20) =>
  `<nav><ul>${chance.times(least, most, () => `<li><a href="/${chance.word()}/">${chance.name()}</a></li>`)}</ul></nav>`;

export const THIN: Readonly<Record<string, Maker>> = {
  gallery: (chance) => ({
    html: `<html>${head(chance)}<body><h1>${chance.name()}</h1>${chance.times(2, 60, (i) => `<a href="/photo/${i}"><img src="/thumbs/${chance.hex(8)}.jpg" alt=""></a>`)}${scripts(chance)}</body></html>`,
  }),
  lazyGallery: (chance) => ({
    html: `<html>${head(chance)}<body>${chance.times(4, 40, () => `<figure><img class="lazy" data-src="/p/${chance.hex(8)}.jpg"><noscript><img src="/p/${chance.hex(8)}.jpg"></noscript></figure>`)}${scripts(chance)}</body></html>`,
  }),
  frameset: (chance) => ({
    html: `<html>${head(chance, `<script>${chance.script(chance.between(300, 4_000))}</script>`)}<frameset cols="20%,80%"><frame src="menu.html" name="menu"><frame src="main.html" name="main"><noframes>Frames are needed. <a href="main.html">Without</a></noframes></frameset></html>`,
  }),
  redirectStub: (chance) => ({
    html: `<!DOCTYPE html><html><head><meta charset="utf-8"><title>Redirecting&hellip;</title><link rel="canonical" href="/${chance.word()}/"><script>location="/${chance.word()}/"</script><meta http-equiv="refresh" content="0; url=/${chance.word()}/"><meta name="robots" content="noindex"></head><body><h1>Redirecting&hellip;</h1><a href="/${chance.word()}/">Click here if you are not redirected.</a></body></html>`,
  }),
  oneLine: (chance) => ({
    html: `<html>${head(chance, `<style>${chance.styles(chance.between(2_000, 20_000))}</style>`)}<body><p>${chance.sentence()}</p>${chance.maybe(0.4, counted(chance))}</body></html>`,
  }),
  structuredData: (chance) => ({
    html: `<html>${head(chance, `<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"${chance.name()}","description":"${chance.prose(chance.between(1_500, 9_000))}"}</script>`)}<body><h1>${chance.name()}</h1><p>${chance.sentence()}</p><img src="/a.jpg"></body></html>`,
  }),
  listing: (chance) => ({
    html: `<html><head><title>Index of /${chance.word()}</title></head><body><h1>Index of /${chance.word()}</h1><hr><pre><a href="../">../</a>\n${chance.times(0, 12, () => `<a href="${chance.word()}.tar.gz">${chance.word()}.tar.gz</a>   01-Jan-2026 12:00  ${chance.between(1, 9_999)}\n`)}</pre><hr></body></html>`,
  }),
  comingSoon: (chance) => ({
    html: `<html>${head(chance)}<body><h1>${chance.name()} ${chance.name()}</h1><p>${chance.pick(['Our new site is coming soon. Stay tuned!', 'We are working on something new.', 'Under construction: come back in spring.'])}</p><a href="mailto:info@${chance.word()}.example">Write to us</a>${scripts(chance)}</body></html>`,
  }),
  thanks: (chance) => ({
    html: `<html>${head(chance, chance.maybe(0.5, '<script src="https://www.google.com/recaptcha/api.js?render=6Labc"></script>'))}<body>${navigation(chance, 1, 8)}<h1>Thank you</h1><p>Your message has been sent.</p>${scripts(chance)}</body></html>`,
  }),
  video: (chance) => ({
    html: `<html>${head(chance)}<body><h2>${chance.name()}</h2><${chance.pick(['video src="/v.mp4" controls></video', 'iframe src="https://video.example/embed/1" width="640" height="360"></iframe', 'object data="/a.pdf" type="application/pdf"></object'])}>${scripts(chance)}</body></html>`,
  }),
  plainWords: (chance) => ({
    html: `<html><body>${chance.pick(['It works!', 'ok', chance.sentence(), ''])}</body></html>`,
  }),
  notFound: (chance) => ({
    status: chance.pick([404, 200]),
    html: `<html>${head(chance)}<body>${navigation(chance, 1, 12)}<h1>404</h1><p>The page was not found.</p>${scripts(chance)}</body></html>`,
  }),
  forbidden: (chance) => ({
    status: 403,
    html: `<html><head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center><hr><center>${chance.pick(['nginx', 'nginx/1.24.0', 'openresty'])}</center></body></html>`,
  }),
  unavailable: (chance) => ({
    status: 503,
    html: `<html><head><title>503 Service Unavailable</title></head><body><h1>Service Unavailable</h1><p>The server is temporarily unable to service your request. ${chance.sentence()}</p></body></html>`,
  }),
  map: (chance) => ({
    html: `<html>${head(chance)}<body><h1>How to find us</h1><p>${chance.name()} street ${chance.between(1, 99)}</p><div id="map"></div>${navigation(chance, 1, 6)}<script src="https://unpkg.com/leaflet/dist/leaflet.js"></script><script>${chance.script(300)}</script></body></html>`,
  }),
};

export const BORDERLINE: Readonly<Record<string, Maker>> = {
  articleQuotingMarkers: (chance) => ({
    html: `<html>${head(chance)}<body>${navigation(chance)}<h1>${chance.pick(['What “Just a moment...” means', 'How cf_chl works', 'Attention Required! explained'])}</h1><p>${chance.prose(chance.between(150, 5_000))}</p><pre>&lt;script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"&gt;&lt;/script&gt;
window._cf_chl_opt = {cvId: '3'}; &lt;div class="cf-browser-verification"&gt; Enable JavaScript and cookies to continue
/_Incapsula_Resource?SWUDNSAI=31 geo.captcha-delivery.com px-captcha</pre>${scripts(chance)}</body></html>`,
  }),
  shortNoteOnDoors: (chance) => ({
    html: `<html><head><title>${chance.pick(['Verify you are human: a note', 'Just a moment, please', 'On checking browsers'])}</title></head><body>${navigation(chance, 6, 20)}<p>Many sites say “checking your browser” or “verify you are human” now. ${chance.sentence()}</p>${scripts(chance)}</body></html>`,
  }),
  anchorsNamedAsMarkers: (chance) => ({
    html: `<html>${head(chance)}<body>${navigation(chance)}${chance.times(2, 5, () => `<h2 id="${chance.pick(['cf-browser-verification', 'px-captcha', 'cf-challenge-running', 'h-captcha'])}">${chance.name()}</h2><p>${chance.prose(200)}</p>`)}${scripts(chance)}</body></html>`,
  }),
  loginWithTurnstile: (chance) => ({
    html: `<html>${head(chance, '<script src="https://challenges.cloudflare.com/turnstile/v0/api.js" async defer></script>')}<body><h1>Sign in</h1><form method=post action=/login><input name=user placeholder=Name><input type=password name=pass><div class="cf-turnstile" data-sitekey="0x4${chance.hex(20)}"></div><button>Sign in</button></form>${chance.maybe(0.5, '<p>Please verify you are human.</p>')}<a href="/register">Register</a></body></html>`,
  }),
  contactWithRecaptcha: (chance) => ({
    html: `<html>${head(chance, '<script src="https://www.google.com/recaptcha/api.js" async></script>')}<body>${navigation(chance)}<h1>Contact</h1><form method=post><input type=email name=mail><textarea name=text></textarea><div class="g-recaptcha" data-sitekey="6L${chance.hex(38)}"></div><input type=submit></form></body></html>`,
  }),
  newsletterWithHcaptcha: (chance) => ({
    html: `<html>${head(chance, '<script src="https://js.hcaptcha.com/1/api.js" async></script>')}<body><h1>Newsletter</h1><p>${chance.prose(chance.between(60, 600))}</p><form method=post><input type=email name=mail><div class="h-captcha" data-sitekey="${chance.hex(32)}"></div><button>Subscribe</button></form></body></html>`,
  }),
  documentBehindCloudflare: (chance) => ({
    headers: [
      ['Server', 'cloudflare'],
      ['CF-RAY', chance.hex(16)],
    ],
    html: `<html>${head(chance, '<script src="/cdn-cgi/scripts/7d0fa10a/cloudflare-static/rocket-loader.min.js" data-cf-settings="a-|49" defer></script>')}<body>${navigation(chance, 0, 8)}<h1>${chance.name()}</h1><p>${chance.prose(chance.between(30, 3_000))} <a class="__cf_email__" data-cfemail="${chance.hex(20)}" href="/cdn-cgi/l/email-protection">[email&#160;protected]</a></p><script data-cfasync="false" src="/cdn-cgi/scripts/5c5dd728/cloudflare-static/email-decode.min.js"></script>
    <script>(function(){function c(){var b=a.contentDocument||a.contentWindow.document;if(b){var d=b.createElement('script');d.innerHTML="window.__CF$cv$params={r:'${chance.hex(16)}',t:'MTc='};var a=document.createElement('script');a.nonce='';a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';document.getElementsByTagName('head')[0].appendChild(a);";b.getElementsByTagName('head')[0].appendChild(d)}}if(document.body){var a=document.createElement('iframe');a.height=1;a.width=1;a.style.position='absolute';document.body.appendChild(a);c()}})();</script></body></html>`,
  }),
  documentBehindImperva: (chance) => ({
    headers: [
      ['X-Iinfo', '1-2-3 NNNN'],
      ['X-CDN', 'Imperva'],
    ],
    html: `<html>${head(chance)}<body><h1>${chance.name()}</h1><p>${chance.prose(chance.between(40, 1_500))}</p>${navigation(chance, 0, 8)}<script type="text/javascript" src="/_Incapsula_Resource?SWJIYLWA=${chance.hex(32)}&ns=1&cb=${chance.between(1, 9e8)}" async></script></body></html>`,
  }),
  documentBehindDataDome: (chance) => ({
    headers: [['X-DataDome', 'protected']],
    html: `<html>${head(chance, `<script>window.ddjskey='${chance.hex(30)}';window.ddoptions={ajaxListenerPath:true};</script><script src="https://js.datadome.co/tags.js" async></script>`)}<body>${navigation(chance, 0, 8)}<h1>${chance.name()}</h1><p>${chance.prose(chance.between(60, 1_500))}</p></body></html>`,
  }),
  documentBehindHuman: (chance) => ({
    html: `<html>${head(chance, `<script>(function(){window._pxAppId='PX${chance.hex(8)}';var p=document.getElementsByTagName('script')[0],s=document.createElement('script');s.async=1;s.src='/${chance.hex(8)}/init.js';p.parentNode.insertBefore(s,p);}());</script>`)}<body><h1>${chance.name()}</h1><p>${chance.prose(chance.between(60, 900))}</p></body></html>`,
  }),
  documentBehindAws: (chance) => ({
    html: `<html>${head(chance, `<script src="https://${chance.hex(12)}.edge.sdk.awswaf.com/${chance.hex(12)}/${chance.hex(12)}/challenge.js" defer></script>`)}<body><h1>${chance.name()}</h1><p>${chance.prose(chance.between(40, 900))}</p>${navigation(chance, 0, 6)}</body></html>`,
  }),
  renderedByServer: (chance) => ({
    html: `<html>${head(chance)}<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="${chance.pick(['root', '__next', 'app', '__nuxt'])}"><header>${navigation(chance, 0, 6)}</header><h1>${chance.name()}</h1><p>${chance.prose(chance.between(60, 4_000))}</p></div><script src="/_next/static/chunks/main-${chance.hex(16)}.js"></script><script id="__NEXT_DATA__" type="application/json">{"text":"${chance.prose(2_000)}"}</script></body></html>`,
  }),
  banner: (chance) => ({
    html: `<html>${head(chance)}<body><noscript><div class="banner">This site works best with JavaScript. Please enable JavaScript in your browser.</div></noscript>${navigation(chance, 1, 20)}<p>${chance.prose(chance.between(40, 1_500))}</p>${scripts(chance)}</body></html>`,
  }),
  emptySearch: (chance) => ({
    html: `<html>${head(chance)}<body><div id="app"><form><input name=q value="${chance.word()}"><button>Search</button></form><p>No results for “${chance.word()}”.</p></div><script src="/js/app.${chance.hex(8)}.js"></script></body></html>`,
  }),
  shadowRoots: (chance) => ({
    html: `<html>${head(chance)}<body><${chance.word()}-page><template shadowrootmode="open"><h1>${chance.name()}</h1><p>${chance.prose(chance.between(200, 3_000))}</p></template></body><script type=module src="/c.${chance.hex(8)}.js"></script></html>`,
  }),
  wordsInNoscript: (chance) => ({
    html: `<html>${head(chance)}<body><div id="app"></div><noscript><h1>${chance.name()}</h1><p>${chance.prose(chance.between(250, 2_000))}</p>${navigation(chance)}</noscript><script src="/app.${chance.hex(8)}.js"></script></body></html>`,
  }),
  codingChallenges: (chance) => ({
    html: `<html><head><title>Challenge: ${chance.word()}</title></head><body>${navigation(chance)}<div class="challenge-stage" id="challenge-form"><h1>Challenge ${chance.between(1, 99)}</h1><p>${chance.prose(chance.between(80, 900))}</p></div>${scripts(chance)}</body></html>`,
  }),
  cookieWall: (chance) => ({
    html: `<html>${head(chance)}<body><div id="cookie-consent">We use cookies. <button>Accept</button></div><h1>${chance.name()}</h1><p>${chance.prose(chance.between(100, 900))}</p>${scripts(chance)}</body></html>`,
  }),
  searchOfManual: (chance) => ({
    html: `<html>${head(chance)}<body>${navigation(chance, 3, 10)}<h1>Search</h1><noscript><div class="admonition warning">Please activate JavaScript to enable the search functionality.</div></noscript><form><input type="text" name="q"><input type="submit" value="search"></form><div id="search-results"></div><script src="_static/searchtools.js"></script><script src="_static/language_data.js"></script></body></html>`,
  }),
};

/** What even a person would call by either name: reported, counted nowhere. */
export const UNDECIDED: Readonly<Record<string, Maker>> = {
  textInTemplate: (chance) => ({
    html: `<html>${head(chance)}<body><div id="view"></div><template id="page"><h1>${chance.name()}</h1><p>${chance.prose(1_500)}</p></template><script>document.getElementById("view").append(document.getElementById("page").content.cloneNode(true));${chance.script(200)}</script></body></html>`,
  }),
  constructionWithParticles: (chance) => ({
    html: `<html>${head(chance, `<style>${chance.styles(3_000)}</style>`)}<body><div id="particles-js"></div><h1>Coming soon</h1><script src="/particles.min.js"></script><script src="/app.js"></script></body></html>`,
  }),
  canvasGame: (chance) => ({
    html: `<html>${head(chance, `<style>${chance.styles(2_500)}</style>`)}<body><canvas id="game" width=800 height=600></canvas><script src="/game.${chance.hex(6)}.js"></script></body></html>`,
  }),
  articleTitledAsADoor: (chance) => ({
    html: `<html><head><title>Just a moment...</title></head><body><h1>Just a moment...</h1><p>${chance.prose(350)}</p>${counted(chance)}</body></html>`,
  }),
  stateAboutDoors: (chance) => ({
    html: `<html>${head(chance)}<body><div id="root"></div><script>window.__STATE__={"body":"How /cdn-cgi/challenge-platform/h/b/orchestrate works. ${chance.prose(900)}"}</script><script src="/app.js"></script></body></html>`,
  }),
  shellWithPreRenderedMenu: (chance) => ({
    html: `<html>${head(chance)}<body><nav>${chance.times(4, 8, () => `<a href="/${chance.word()}">${chance.name()}</a>`)}</nav><div id="root"></div><script src="/static/js/main.${chance.hex(8)}.js"></script></body></html>`,
  }),
  loginShell: (chance) => ({
    html: `<html>${head(chance)}<body><div id="app"></div><form id="hidden-login" style="display:none"><input name=user><input name=pass type=password></form><script src="/app.${chance.hex(8)}.js"></script></body></html>`,
  }),
};
