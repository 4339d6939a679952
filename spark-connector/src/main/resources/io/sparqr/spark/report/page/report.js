'use strict';
(async () => {
  const { report, profile, text } = JSON.parse(document.getElementById('data').textContent);
  const at = id => document.getElementById(id);
  const about = (id, words) => { at('s-' + id).querySelector('.about').textContent = words; };
  const whole = new Intl.NumberFormat('en');
  const count = x => whole.format(x);
  const scaled = (x, units, step) => {
    let k = 0;
    while (x >= step && k < units.length - 1) { x /= step; k++; }
    return (k === 0 || x >= 100 ? x.toFixed(0) : x.toPrecision(3)) + ' ' + units[k];
  };
  const flops = x => scaled(x, ['flop', 'kflop', 'Mflop', 'Gflop', 'Tflop', 'Pflop'], 1000);
  const bytes = x => scaled(x, ['B', 'kB', 'MB', 'GB', 'TB'], 1000);
  const time = x => x >= 100 ? x.toFixed(0) + ' s' : x >= 1 ? x.toFixed(2) + ' s' : (1000 * x).toPrecision(3) + ' ms';

  // 1. words and figures
  const add = (parent, tag, words) => {
    const e = document.createElement(tag);
    e.textContent = words;
    parent.append(e);
    return e;
  };
  at('title').textContent =
    `${count(report.rows)} × ${count(report.columns)}, ${count(report.nonzeros)} nonzeros`;
  const run = report.run;
  const began = run.startedAt ? `, ${run.startedAt.replace('T', ' ').replace('Z', ' UTC')}` : '';
  at('subtitle').textContent = `Least squares by sparse QR${began}, ${report.backend}`;
  const told = (name, words) => {
    if (words) {
      add(at('run'), 'dt', name);
      add(at('run'), 'dd', words);
    }
  };
  const pairs = (map, between) => Object.entries(map).map(([key, value]) => key + between + value).join(', ');
  told('matrix', run.input);
  told('options', run.startedAt && (pairs(run.options, ' ') || 'all at their defaults'));
  told('versions', pairs(run.versions, ' '));
  told('hosts', run.hosts.length === 1 && run.hosts[0] === run.host ? run.host : run.host && `${run.host} (driver), ${run.hosts.join(', ')}`);
  told('application', run.applicationId);
  at('run').hidden = !at('run').children.length;
  if (report.warnings.length) {
    at('warnings').hidden = false;
    add(at('warnings'), 'h2', report.warnings.length === 1 ? 'Warning' : 'Warnings');
    const list = add(at('warnings'), 'ul', '');
    report.warnings.forEach(w => add(list, 'li', w));
  }
  const card = (value, words) => {
    const box = add(at('figures'), 'div', '');
    add(box, 'b', value);
    add(box, 'span', words);
  };
  const norms = [].concat(report.residualNorm);
  card(time(report.seconds.total), 'in all');
  card(time(report.seconds.factorize), `factorize, ${report.gflops.toPrecision(3)} GFLOP/s`);
  card(norms.length ? norms[0].toExponential(4) : '–', '‖b − Ax‖' + (norms.length > 1 ? `, the first of ${norms.length}` : ''));
  card(`${count(report.rank)} of ${count(report.columns)}`, 'rank');
  card(count(report.nnzR), `entries of R, order ${report.ordering}`);
  card(flops(report.flops), `in ${count(report.fronts)} fronts`);
  card(count(report.subtreeTasks), `tasks in ${report.levels} level${report.levels === 1 ? '' : 's'}`);
  card(bytes(report.peakHostBytes), 'most heap of a task’s data');
  if (report.peakDeviceBytes > 0) { card(bytes(report.peakDeviceBytes), 'most device memory of a task'); }
  card(bytes(report.shuffleBytes), 'shuffled');
  at('text').textContent = text.join('\n');
  if (!profile) {
    at('no-profile').hidden = false;
    at('pictures').hidden = true;
    document.body.dataset.drawn = '0';
    return;
  }

  // 2. what the pictures share
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const config = () => {
    const ink = dark.matches ? '#e4e9ef' : '#1b2430';
    const soft = dark.matches ? '#9aa6b4' : '#5b6675';
    const line = dark.matches ? '#323b46' : '#d9dee5';
    const font = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
    return {
      background: 'transparent', font,
      axis: { labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line,
        labelFont: font, titleFont: font, titleFontWeight: 'normal', labelFontSize: 11, titleFontSize: 12 },
      legend: { labelColor: soft, titleColor: soft, labelFont: font, titleFont: font, titleFontWeight: 'normal',
        labelLimit: 220, symbolLimit: 24 },
      header: { labelColor: soft, titleColor: soft },
      title: { color: soft, font, fontWeight: 'normal' },
      text: { color: ink, font }, rule: { color: soft }, view: { stroke: line },
      range: { category: dark.matches
        ? ['#74b0ea', '#f2a65a', '#7fc97f', '#e88aa8', '#b99ce8', '#d8c25a', '#6fd0c8', '#c9986f', '#9fb4c7', '#ef8460']
        : ['#2f6fb0', '#d97a1a', '#3a8f4a', '#c2426a', '#7a55b5', '#a08b10', '#1d8f88', '#8a5a33', '#66788a', '#c2502a'] },
    };
  };
  const zero = "datum.value === 0 ? '0' : datum.label";
  const one = dark => dark ? '#74b0ea' : '#2f6fb0';
  // room for the names of lanes, and beside spy plots for the legend
  const gutter = width => width < 500 ? 130 : 200;
  const beside = width => width < 480 ? 70 : 150;
  const views = [];
  const draw = async (id, spec, renderer) => {
    // an element that is not laid out yet has no width
    const width = Math.max(260, Math.floor(at(id).clientWidth) - 4);
    const made = await vegaEmbed(at(id), spec(width, dark.matches),
      { renderer: renderer || 'svg', config: config(), tooltip: { theme: dark.matches ? 'dark' : 'custom' }, actions: { export: true, source: false, compiled: false, editor: false } });
    views.push(made);
  };
  const lite = 'https://vega.github.io/schema/vega-lite/v6.json';
  const placesOf = tasks => [...new Set(tasks.map(t => t.place + (t.device ? ', ' + t.device : '')))].sort();
  const placeOf = t => t.place + (t.device ? ', ' + t.device : '');
  const places = placesOf(profile.tasks);
  const byTask = new Map(profile.tasks.map(t => [t.id, t]));
  const several = places.length > 1;
  const whereOf = id => {
    const t = byTask.get(id);
    if (!t) { return 'nowhere'; }
    return several ? placeOf(t) : 'task ' + id;
  };
  // ten colours at most: what is beyond the tasks of most flops shares one
  const shown = several ? places
    : [...profile.tasks].sort((a, b) => b.flops - a.flops).slice(0, 9).map(t => 'task ' + t.id).sort((a, b) => a.slice(5) - b.slice(5));
  const colour = id => { const w = whereOf(id); return several || shown.includes(w) ? w : 'other tasks'; };
  const colours = several || profile.tasks.length <= 9 ? [...new Set(shown)] : [...new Set(shown), 'other tasks'];
  const whereTitle = several ? 'ran on' : null;

  // 3. the timeline: the phases, then a lane for each task that runs beside others of its place
  const end = Math.max(...profile.phases.map(p => p.end), ...profile.tasks.map(t => t.end), 0.001);
  const phases = profile.phases.filter(p => p.end > p.begin);
  const lanes = [];
  const spans = [];
  for (const place of places) {
    const free = [];
    for (const t of profile.tasks.filter(t => placeOf(t) === place).sort((a, b) => a.begin - b.begin)) {
      let k = free.findIndex(f => f <= t.begin);
      if (k < 0) { k = free.length; free.push(0); }
      free[k] = t.end;
      const lane = free.length > 0 && k > 0 ? `${place} (${k + 1})` : place;
      if (!lanes.includes(lane)) { lanes.push(lane); }
      spans.push({ lane, begin: t.begin, end: t.end, colour: colour(t.id), label: (t.end - t.begin) / end * (at('timeline').clientWidth - 200) > 45 ? 'task ' + t.id : '',
        task: t.id, level: t.level, fronts: count(t.fronts), flops: flops(t.flops), took: time(t.end - t.begin), memory: bytes(t.hostBytes),
        device: t.device || 'none', rate: t.end > t.begin ? (t.flops / (t.end - t.begin) / 1e9).toPrecision(3) + ' GFLOP/s' : '' });
    }
  }
  about('timeline', `The phases on the driver, and below them ${count(profile.tasks.length)} subtree task${profile.tasks.length === 1 ? '' : 's'} where and when they ran. Point at a bar for its figures.`);
  const lanesShown = lanes.slice(0, 64);
  await draw('timeline', (width, isDark) => ({
    $schema: lite, spacing: 14,
    vconcat: [
      { width: width - gutter(width), height: 18 * phases.length, data: { values: phases.map((p, i) => ({ ...p, order: i, name: p.name, took: time(p.end - p.begin) })) },
        encoding: { y: { field: 'name', type: 'nominal', sort: { field: 'order' }, title: null, axis: { minExtent: gutter(width) - 50, labelLimit: gutter(width) - 55 } },
          x: { field: 'begin', type: 'quantitative', title: null, scale: { domain: [0, end] }, axis: { labels: false, ticks: false } } },
        layer: [
          { mark: { type: 'bar', height: 12, cornerRadius: 2, color: isDark ? '#9aa6b4' : '#66788a' },
            encoding: { x2: { field: 'end' }, tooltip: [{ field: 'name', title: 'phase' }, { field: 'detail' }, { field: 'took' }] } },
          { transform: [{ calculate: `datum.end > ${0.85 * end}`, as: 'late' }, { filter: '!datum.late' }],
            mark: { type: 'text', align: 'left', dx: 4, fontSize: 10.5 }, encoding: { x: { field: 'end', type: 'quantitative' }, text: { field: 'took' } } },
          { transform: [{ filter: `datum.end > ${0.85 * end}` }],
            mark: { type: 'text', align: 'right', dx: -4, fontSize: 10.5 }, encoding: { text: { field: 'took' } } },
        ] },
      { width: width - gutter(width), height: Math.max(1, lanesShown.length) * (lanesShown.length > 24 ? 10 : 20), data: { values: spans.filter(s => lanesShown.includes(s.lane)) },
        encoding: { y: { field: 'lane', type: 'nominal', sort: lanesShown, title: null, axis: { minExtent: gutter(width) - 50, labelLimit: gutter(width) - 55 } },
          x: { field: 'begin', type: 'quantitative', title: 'seconds since the solve began', scale: { domain: [0, end] } } },
        layer: [
          { mark: { type: 'bar', cornerRadius: 2, stroke: isDark ? '#1c2229' : '#f6f7f9', strokeWidth: 0.5 },
            encoding: { x2: { field: 'end' }, color: { field: 'colour', type: 'nominal', scale: { domain: colours }, title: whereTitle, legend: colours.length > 1 ? { orient: 'bottom', columns: Math.max(1, Math.floor(width / (several ? 260 : 110))) } : null },
              tooltip: [...['task', 'lane', 'device', 'level', 'fronts', 'flops', 'took', 'rate'].map(field => ({ field })), { field: 'memory', title: 'heap of its data' }] } },
          { transform: [{ filter: 'datum.label' }, { calculate: '(datum.begin + datum.end) / 2', as: 'middle' }],
            mark: { type: 'text', fontSize: 10, color: isDark ? '#10151a' : '#ffffff' }, encoding: { x: { field: 'middle', type: 'quantitative' }, text: { field: 'label' } } },
        ] },
    ],
    resolve: { scale: { x: 'independent' } },
  }));

  // what devices did: for each device of a stage its block slots over time, by cause
  const deviceTimes = profile.tasks.flatMap(t => t.deviceTimes.map(d => ({ ...d, task: t.id, name: `task ${t.id}, stage ${d.stage + 1}: ${d.device}` })));
  if (deviceTimes.length) {
    at('s-devices').hidden = false;
    const most = [...deviceTimes].sort((a, b) => b.slots * b.seconds - a.slots * a.seconds).slice(0, 12);
    const panels = deviceTimes.filter(d => most.includes(d)).map((d, k) => ({ ...d, name: `${d.name}${d.seconds > 0 ? ', ' + time(d.seconds) : ''}`, order: k }));
    const causes = panels[0].spent.map(s => s.cause);
    const bars = panels.flatMap(d => d.spent.flatMap((s, order) => s.bins.map((seconds, bin) => {
      const from = bin * d.binSeconds;
      const to = bin === s.bins.length - 1 ? d.seconds : from + d.binSeconds;
      return { panel: d.name, cause: s.cause, order, from, to, share: Math.max(0, seconds / (d.slots * (to - from) || 1)) };
    }))).filter(b => b.share > 0);
    about('devices', `What the thread blocks of ${panels.length < deviceTimes.length ? 'the busiest ' + panels.length + ' of ' : ''}${count(deviceTimes.length)} devices and stages did, as shares of their block slots. Each device’s time begins at its own first block.`);
    await draw('devices', width => ({
      $schema: lite, data: { values: bars },
      facet: { row: { field: 'panel', type: 'nominal', sort: panels.map(p => p.name), title: null, header: { labelAngle: 0, labelAnchor: 'start', labelOrient: 'top' } } },
      resolve: { scale: { x: 'independent' } },
      spec: { width: width - 60, height: 90, mark: { type: 'bar', binSpacing: 0 },
        encoding: { x: { field: 'from', bin: 'binned', type: 'quantitative', title: 'seconds since the device began the stage' }, x2: { field: 'to' },
          y: { field: 'share', type: 'quantitative', stack: 'zero', title: null, axis: { format: '%', tickCount: 4 }, scale: { domain: [0, 1], clamp: true } },
          color: { field: 'cause', type: 'nominal', title: null, scale: { domain: causes }, legend: { orient: 'bottom', columns: Math.max(1, Math.floor(width / 140)) } },
          order: { field: 'order' },
          tooltip: [{ field: 'cause' }, { field: 'share', format: '.1%' }, { field: 'from', format: '.4f' }, { field: 'to', format: '.4f' }] } },
    }));
  }

  // 4. the tree: a tile for each front, inside the tile of its subtree
  const nodes = profile.fronts;
  if (nodes.length) {
    const withChildren = new Set(nodes.map(f => f.parent));
    const values = [{ id: 'top', parent: null, own: 0 }];
    for (const f of nodes) {
      const parent = f.parent < 0 ? 'top' : 's' + f.parent;
      const tile = { own: f.flops, where: colour(f.task), task: f.task,
        front: f.count === 1 ? 'front ' + f.front : count(f.count) + ' fronts', size: `${count(f.rows)} × ${count(f.columns)}`,
        pivots: f.pivots, words: flops(f.flops), part: (100 * f.flops / Math.max(report.flops, 1)).toPrecision(3) + ' %' };
      if (withChildren.has(f.id)) {
        values.push({ id: 's' + f.id, parent, own: 0 }, { id: 'f' + f.id, parent: 's' + f.id, ...tile });
      } else {
        values.push({ id: 's' + f.id, parent, ...tile });
      }
    }
    const grouped = nodes.filter(f => f.count > 1).length;
    about('tree', `A tile is a front, its area the flops, its colour ${several ? 'where it ran' : 'the task that made it'}; the tiles of a subtree lie together.`
      + (grouped ? ` The ${count(nodes.length - grouped)} fronts of most flops have their own tile, the others one for each subtree.` : ''));
    await draw('tree', (width, isDark) => ({
      $schema: 'https://vega.github.io/schema/vega/v6.json', width: width - 40, height: 380, padding: 3,
      data: [
        { name: 'tree', values, transform: [
          { type: 'stratify', key: 'id', parentKey: 'parent' },
          { type: 'treemap', field: 'own', sort: { field: 'value', order: 'descending' }, round: false, method: 'squarify', ratio: 1.4, paddingInner: 0,
            size: [{ signal: 'width' }, { signal: 'height' }] },
        ] },
        { name: 'tiles', source: 'tree', transform: [{ type: 'filter', expr: 'datum.own > 0 && datum.x1 > datum.x0' }] },
        { name: 'subtrees', source: 'tree', transform: [{ type: 'filter', expr: 'datum.children && datum.depth > 0 && datum.depth < 7' }] },
      ],
      scales: [{ name: 'colour', type: 'ordinal', domain: colours, range: 'category' },
        { name: 'edge', type: 'linear', domain: [1, 7], range: [2.5, 0.4] }],
      legends: colours.length > 1 ? [{ fill: 'colour', orient: 'bottom', direction: 'horizontal', columns: Math.max(1, Math.floor(width / (several ? 260 : 110))), symbolType: 'square' }] : [],
      marks: [
        { type: 'rect', from: { data: 'tiles' }, encode: {
          enter: { fill: { scale: 'colour', field: 'where' }, stroke: { value: isDark ? '#1c2229' : '#f6f7f9' }, strokeWidth: { value: 0.5 },
            tooltip: { signal: "{title: datum.front, 'rows × columns': datum.size, 'pivots': datum.pivots, 'flops': datum.words, 'of all': datum.part, 'task': datum.task, 'ran on': datum.where}" } },
          update: { x: { field: 'x0' }, x2: { field: 'x1' }, y: { field: 'y0' }, y2: { field: 'y1' }, fillOpacity: { value: 1 } },
          hover: { fillOpacity: { value: 0.6 } } } },
        { type: 'rect', interactive: false, from: { data: 'subtrees' }, encode: {
          enter: { fill: { value: null }, stroke: { value: isDark ? '#14181d' : '#ffffff' }, strokeWidth: { scale: 'edge', field: 'depth' } },
          update: { x: { field: 'x0' }, x2: { field: 'x1' }, y: { field: 'y0' }, y2: { field: 'y1' } } } },
        { type: 'text', interactive: false, from: { data: 'tiles' }, encode: {
          enter: { align: { value: 'center' }, baseline: { value: 'middle' }, fill: { value: isDark ? '#10151a' : '#ffffff' }, fontSize: { value: 11 },
            text: { signal: "datum.x1 - datum.x0 < 7 * length(datum.size) || datum.y1 - datum.y0 < 15 ? '' : datum.y1 - datum.y0 > 30 ? [datum.size, datum.words] : datum.size" } },
          update: { x: { signal: '(datum.x0 + datum.x1) / 2' }, y: { signal: "(datum.y0 + datum.y1) / 2 - (datum.y1 - datum.y0 > 30 ? 7 : 0)" } } } },
      ],
    }), 'canvas');
  } else {
    about('tree', 'No fronts: every column is a column singleton.');
  }

  // 5. spy plots
  // whole pixels a cell: no seams
  const pixels = (room, cells) => room < cells ? room : Math.floor(room / cells) * cells;
  const spy = async (id, s, name, none) => {
    if (!s.cells.length) {
      about(id, none);
      return;
    }
    const values = s.cells.map(c => ({ row: c.row * s.rows / s.gridRows, row2: (c.row + 1) * s.rows / s.gridRows,
      column: c.column * s.columns / s.gridColumns, column2: (c.column + 1) * s.columns / s.gridColumns, entries: c.entries }));
    const entries = s.cells.reduce((sum, c) => sum + c.entries, 0);
    const most = Math.max(...s.cells.map(c => c.entries));
    about(id, `${count(entries)} entries${name}, counted on a grid of ${s.gridRows} × ${s.gridColumns}.`);
    await draw(id, (width, isDark) => ({
      $schema: lite, width: pixels(width - beside(width), s.gridColumns), height: pixels(Math.min(420, width - beside(width)), s.gridRows), data: { values },
      mark: { type: 'rect', strokeWidth: 0 },
      encoding: {
        x: { field: 'column', type: 'quantitative', scale: { domain: [0, s.columns], nice: false }, title: 'column', axis: { format: '~s', labelExpr: zero, tickCount: 5, grid: false } },
        x2: { field: 'column2' },
        y: { field: 'row', type: 'quantitative', scale: { domain: [0, s.rows], reverse: true, nice: false }, title: 'row', axis: { format: '~s', labelExpr: zero, tickCount: 6, grid: false } },
        y2: { field: 'row2' },
        color: { field: 'entries', type: 'quantitative', title: 'entries', legend: most > 1 ? { format: '~s', gradientLength: 140, tickCount: 4, orient: width < 480 ? 'bottom' : 'right' } : null,
          scale: { type: most > 1 ? 'log' : 'linear', domain: most > 1 ? [1, most] : [0, 1], range: isDark ? ['#2b4a68', '#8ec5f5', '#ffe08a'] : ['#b9d3ec', '#2f6fb0', '#0b1f3a'] } },
        tooltip: [{ field: 'row', format: ',.0f', title: 'from row' }, { field: 'column', format: ',.0f', title: 'from column' }, { field: 'entries', format: ',' }],
      },
    }), 'canvas');
  };
  await spy('spy-matrix', profile.matrix, profile.matrix.rows > report.rows ? ' (the ridge’s rows included), rows by their first column' : ', rows by their first column',
    'Not drawn: the driver did not have the pattern, only the graph of AᵀA.');
  await spy('spy-factor', profile.factor, ' at full rank', 'R has no entries.');

  // 6. fronts by size
  const sizes = profile.sizes.map(s => ({ ...s, label: s.to - s.from === 1 ? String(s.from) : `${count(s.from)} to ${count(s.to - 1)}` }));
  if (sizes.length) {
    about('sizes', 'Left how many fronts have so many columns, right the flops of all of them.');
    const half = (width, field, title, format, isDark, labels) => ({
      width: (width - 150) / 2, height: Math.max(120, Math.min(32, 240 / sizes.length) * sizes.length), data: { values: sizes }, title: { text: title, fontSize: 12, anchor: 'start' },
      encoding: { y: { field: 'label', type: 'nominal', sort: sizes.map(s => s.label), title: labels ? 'columns' : null, axis: labels ? {} : { labels: false, ticks: false } } },
      layer: [
        { mark: { type: 'bar', color: one(isDark), cornerRadiusEnd: 2 }, encoding: { x: { field, type: 'quantitative', title: null, axis: { format, labelExpr: zero, tickCount: 3 }, scale: { domainMin: 0, padding: 8 } },
          tooltip: [{ field: 'label', title: 'columns' }, { field: 'fronts', format: ',' }, { field: 'flops', format: '.3s' }] } },
      ],
    });
    await draw('sizes', (width, isDark) => ({ $schema: lite, spacing: 12,
      hconcat: [half(width, 'fronts', 'fronts', '~s', isDark, true), half(width, 'flops', 'flops', '~s', isDark, false)] }));
  }

  // 7. memory
  const memory = profile.memory.flatMap(m => [{ at: m.at, what: m.place + ': heap', gb: m.heapBytes / 1e9 }]
    .concat(m.deviceBytes > 0 ? [{ at: m.at, what: m.place + ': devices', gb: m.deviceBytes / 1e9 }] : []));
  const series = [...new Set(memory.map(m => m.what))];
  about('memory', 'Heap in use in each JVM, garbage included' + (memory.some(m => m.what.endsWith('devices')) ? ', and what it holds on devices.' : '.'));
  await draw('memory', width => ({
    $schema: lite, width: width - 90, height: 240, data: { values: memory },
    mark: { type: 'line', strokeWidth: 1.6, point: memory.length < 5 },
    encoding: { x: { field: 'at', type: 'quantitative', title: 'seconds since the solve began', scale: { domain: [0, end], nice: false } },
      y: { field: 'gb', type: 'quantitative', title: 'GB', scale: { domainMin: 0 } },
      color: { field: 'what', type: 'nominal', title: null, scale: { domain: series }, legend: series.length < 2 ? null : { orient: 'bottom', columns: Math.max(1, Math.floor(width / 230)) } },
      tooltip: [{ field: 'what' }, { field: 'at', format: '.2f', title: 'seconds' }, { field: 'gb', format: '.3f', title: 'GB' }] },
  }));

  // 8. predicted and measured
  const table = add(at('foretold-table'), 'table', '');
  const row = (tag, cells) => { const r = add(table, 'tr', ''); cells.forEach(c => add(r, tag, c)); };
  const ratio = (a, b) => a > 0 ? (b / a).toPrecision(3) + ' ×' : '–';
  row('th', ['', 'predicted', 'measured', 'measured / predicted']);
  row('td', ['factorize', time(profile.foretoldSeconds), time(report.seconds.factorize), ratio(profile.foretoldSeconds, report.seconds.factorize)]);
  row('td', ['flops', flops(report.flops), flops(report.flopsDone), ratio(report.flops, report.flopsDone)]);
  row('td', ['most heap of a task’s data', bytes(report.foretoldHostBytes), bytes(report.peakHostBytes), ratio(report.foretoldHostBytes, report.peakHostBytes)]);
  const largest = [...profile.tasks].sort((a, b) => b.flops - a.flops).slice(0, 24).sort((a, b) => a.id - b.id);
  about('foretold', profile.tasks.length > largest.length ? `The bars are measured, the marks predicted: the ${largest.length} tasks of most flops.` : 'The bars are measured, the marks predicted, task by task.');
  const bullet = (width, what, unit, isDark, labels) => ({
    width: (width - 170) / 2, height: { step: 17 }, title: { text: what, fontSize: 12, anchor: 'start' },
    data: { values: largest.map(t => ({ task: 'task ' + t.id + (t.attempt ? ', attempt ' + t.attempt : ''), measured: unit.measured(t), predicted: unit.predicted(t) })) },
    encoding: { y: { field: 'task', type: 'nominal', sort: null, title: null, axis: labels ? {} : { labels: false, ticks: false } } },
    layer: [
      { mark: { type: 'bar', color: one(isDark), cornerRadiusEnd: 2 }, encoding: { x: { field: 'measured', type: 'quantitative', title: unit.name, axis: { tickCount: 4 } }, tooltip: [{ field: 'task' }, { field: 'measured', format: '.4s' }, { field: 'predicted', format: '.4s' }] } },
      { mark: { type: 'tick', thickness: 3, color: isDark ? '#f2a65a' : '#d97a1a' }, encoding: { x: { field: 'predicted', type: 'quantitative' }, tooltip: [{ field: 'task' }, { field: 'measured', format: '.4s' }, { field: 'predicted', format: '.4s' }] } },
    ],
  });
  await draw('foretold', (width, isDark) => ({ $schema: lite, spacing: 16, hconcat: [
    bullet(width, 'time of the task', { name: 'seconds', measured: t => t.end - t.begin, predicted: t => t.foretoldSeconds }, isDark, true),
    bullet(width, 'heap of its data', { name: 'MB', measured: t => t.hostBytes / 1e6, predicted: t => t.foretoldHostBytes / 1e6 }, isDark, false),
  ] }));
  document.body.dataset.drawn = String(views.length);
  dark.addEventListener('change', () => location.reload());
})().catch(e => { console.error(e); document.body.dataset.failed = String(e); });
