/** What a script of the session would do if one ran; short, since names are cut. */
const DO_HARM = "window.PWNED=1";

/** Texts that break out of a page that forgets to escape somewhere. None of them may run or load anything. */
export const HOSTILE: readonly string[] = [
  `<img src=x onerror="${DO_HARM}">`,
  `"><script>${DO_HARM}</script>`,
  `'><svg onload=${DO_HARM}>`,
  `</script><script>${DO_HARM}</script>`,
  `</style><script>${DO_HARM}</script>`,
  `</title><script>${DO_HARM}</script>`,
  `</pre></code></details></section></main><script>${DO_HARM}</script>`,
  `--><script>${DO_HARM}</script><!--`,
  `<!--<script>${DO_HARM}</script>`,
  `<![CDATA[<script>${DO_HARM}</script>]]>`,
  `" onmouseover="${DO_HARM}" autofocus onfocus="${DO_HARM}" x="`,
  `' onclick='${DO_HARM}`,
  `[link](javascript:${DO_HARM})`,
  `[link](JaVaScRiPt:${DO_HARM})`,
  `[link](java\tscript:alert(1))`,
  `[link](data:text/html,<script>${DO_HARM}</script>)`,
  `[link](vbscript:x "a\\"b") [b](https://evil.example/?" onclick="${DO_HARM}")`,
  `[link](https://evil.example "title" onclick="${DO_HARM}")`,
  `[<img src=x onerror=${DO_HARM}>](https://evil.example)`,
  `![<img src=x onerror=${DO_HARM}>](https://evil.example/pixel.png)`,
  `![x](javascript:${DO_HARM})`,
  `<https://evil.example/"onmouseover="${DO_HARM}>`,
  `https://evil.example/"><script>${DO_HARM}</script>`,
  `https://evil.example/'onmouseover='${DO_HARM}`,
  `[ref]: javascript:${DO_HARM}\n\n[ref]`,
  "```\"><script>" + DO_HARM + "</script>\n</code></pre><script>" + DO_HARM + "</script>\n```",
  "`</code><script>" + DO_HARM + "</script>`",
  `| <script>${DO_HARM}</script> | b |\n|---|---|\n| <img src=x onerror=${DO_HARM}> | x |`,
  `> <script>${DO_HARM}</script>\n- <script>${DO_HARM}</script>\n# <script>${DO_HARM}</script>`,
  `**<b onmouseover=${DO_HARM}>** ~~<i>~~ _</em>_`,
  `&lt;script&gt;${DO_HARM}&lt;/script&gt; &#60;script&#62; &quot;&#x27;`,
  `\u2028<script>${DO_HARM}</script>\u2029\u0000<scr\u0000ipt>`,
  `\ud800<script>${DO_HARM}</script>\udc00`,
  `<iframe srcdoc="<script>parent.PWNED=1</script>"></iframe>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example">`,
  `<base href="https://evil.example/"><link rel=stylesheet href=//evil.example/x.css>`,
  `<form action=https://evil.example><input name=documentElement></form>`,
  `<style>@import url(https://evil.example/x.css); body{background:url(https://evil.example/y)}</style>`,
  `{{constructor.constructor("${DO_HARM}")()}}`,
  `__proto__`,
];

/** A run of all of them. */
export const ALL_HOSTILE = HOSTILE.join("\n\n");
