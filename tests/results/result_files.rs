//! Result files, from made-up rows.

use std::fs;

use flitlab::report::folder::keys_of;
use flitlab::report::{
    ChannelRow, FailureRow, Label, Labels, Packing, Point, PointRow, ResultFolder, ResultRows,
    RowWriter, Status, Sustained, SustainedLoad, WorkloadRow, read,
};
use flitlab::units::Picoseconds;

use crate::common::made_up::{Folder, label, sweep, torus_channels, with_details, workloads};

/// Labels as points.csv has them, of a sweep without keys.
fn all() -> Labels {
    Labels::All(Vec::new())
}

fn rounded(points: &mut [Point]) {
    for Point { measured, .. } in points {
        let PointRow { offered_load, offered_payload, accepted_load, .. } = measured;
        let PointRow { accepted_payload, accepted_minimum_source, .. } = measured;
        for load in [
            offered_load,
            offered_payload,
            accepted_load,
            accepted_payload,
            accepted_minimum_source,
        ] {
            *load = load.map(|load| (load * 1e6).round() / 1e6);
        }
    }
}

#[test]
fn rows_come_back_as_written() {
    let folder = Folder::new("round-trip");
    let mut points = sweep("4x4, \"short\" routes", 0.7, 600.123, 0.1);
    points.push(Point {
        label: label("all to all", 0),
        measured: PointRow {
            status: Status::Completed,
            completion_time: Some(Picoseconds(1_234_567)),
            bandwidth: Some(4.25),
            ..PointRow::default()
        },
        ..Point::default()
    });
    let measured = PointRow { status: Status::Deadlock, ..PointRow::default() };
    points.push(Point { measured, ..Point::default() });
    rounded(&mut points);
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path, all()).unwrap();
    for point in &points {
        writer.write(&point.label, &point.measured).unwrap();
    }
    let found = read::<PointRow>(&path, &all()).unwrap();
    let rows = points.into_iter().map(|point| (point.label, point.measured));
    assert_eq!(found.rows, rows.collect::<Vec<_>>());
    assert_eq!(found.incomplete_line, None);

    let channels = torus_channels();
    let path = folder.file("channels.csv");
    let of = label("a", 3);
    let rows = channels.iter().map(|row| (&of, row));
    RowWriter::write_file(&path, Labels::Place, rows).unwrap();
    let found = read::<ChannelRow>(&path, &Labels::Place).unwrap().rows;
    assert_eq!(found.len(), channels.len());
    assert!(found.iter().zip(&channels).all(|((label, found), row)| label.place() == of.place()
        && found.channel == row.channel
        && (found.utilisation - row.utilisation).abs() <= 5e-7));
}

#[test]
fn a_folder_comes_back_with_each_row_at_its_point_and_each_key_in_its_column() {
    let folder = Folder::new("folder");
    let mut points = with_details(sweep("a", 0.7, 600.0, 0.25)).points;
    points.extend(with_details(sweep("b", 0.7, 600.0, 0.25)).points);
    for (number, point) in points.iter_mut().enumerate() {
        point.label.repetition = u32::try_from(number % 2).unwrap();
        // The second key is the table of a workload that another crate adds.
        let keys = [("router.buffer", format!("{number} flits")), ("pass", "{ a = 1 }".into())];
        point.label.settings = keys.map(|(key, value)| (key.into(), value)).into();
        point.channels =
            vec![ChannelRow { channel: format!("channel {number}"), ..ChannelRow::default() }];
    }
    rounded(&mut points);
    let found = Sustained { sustained_load: 0.625, lowest_load_not_sustained: None };
    let saturation = vec![SustainedLoad { label: points[0].label.clone(), found }];
    let keys = keys_of(points.iter().map(|point| &point.label));
    assert_eq!(keys, ["router.buffer", "pass"]);
    let mut rows = ResultFolder::begin(&folder.0, keys, Packing::Plain).unwrap();
    // In the order in which threads come to an end.
    points.iter().rev().for_each(|point| rows.add(point).unwrap());
    rows.finish(&points, &saturation).unwrap();

    let text = fs::read_to_string(folder.file("points.csv")).unwrap();
    let header = "series,figure,point,repetition,seed,router.buffer,pass,status,offered_load,";
    assert!(text.starts_with(header), "{text}");
    assert!(text.contains("\na,,0,0,1,0 flits,{ a = 1 },steady,0.25,"), "{text}");
    let mut found = ResultRows::read(&folder.0, |note| panic!("{note}")).unwrap();
    // Windows and shares are rounded like loads.
    for (found, point) in found.points.iter_mut().zip(&points) {
        assert_eq!((found.windows.len(), found.latencies.len()), (12, 51));
        found.windows.clone_from(&point.windows);
    }
    assert_eq!(found, ResultRows { points, saturation, ..ResultRows::default() });
}

#[test]
fn compressed_channels_are_read_as_far_as_they_were_written() {
    let folder = Folder::new("compressed_channels");
    let mut points = sweep("a", 0.7, 600.0, 0.5);
    rounded(&mut points);
    points.iter_mut().for_each(|point| point.channels = torus_channels());
    let each = points[0].channels.len();
    let mut rows = ResultFolder::begin(&folder.0, Vec::new(), Packing::Gzip).unwrap();
    points.iter().for_each(|point| rows.add(point).unwrap());
    let path = folder.file("channels.csv.gz");
    let read_back = || -> usize {
        let mut found = ResultRows { points: points.clone(), ..ResultRows::default() };
        found.points.iter_mut().for_each(|point| point.channels.clear());
        found.read_channels(&folder.0, drop).unwrap();
        found.points.iter().map(|point| point.channels.len()).sum()
    };
    assert_eq!(read_back(), points.len() * each);
    // A kill has cut short what was written last.
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 20]).unwrap();
    let left = read_back();
    assert!((points.len() - 1) * each <= left && left < points.len() * each, "{left}");
    rows.finish(&points, &[]).unwrap();
    assert_eq!(read_back(), points.len() * each);
    assert!(!folder.file("channels.csv").exists());
    // Written in another way, the earlier file is gone.
    ResultFolder::begin(&folder.0, Vec::new(), Packing::Plain)
        .unwrap()
        .finish(&points, &[])
        .unwrap();
    assert!(!path.exists() && read_back() == points.len() * each);
}

#[test]
fn the_workloads_of_points_have_a_file_with_the_columns_that_one_of_them_has() {
    let folder = Folder::new("workloads");
    let mut points = sweep("a", 0.7, 600.0, 0.5);
    rounded(&mut points);
    points[1].workloads = workloads();
    let finish = |points: &[Point]| {
        ResultFolder::begin(&folder.0, Vec::new(), Packing::Plain)
            .unwrap()
            .finish(points, &[])
            .unwrap();
        ResultRows::read(&folder.0, |note| panic!("{note}")).unwrap().points
    };
    assert_eq!(finish(&points), points);
    assert_eq!(
        fs::read_to_string(folder.file("workloads.csv")).unwrap(),
        "series,point,repetition,workload,kind,status,offered_load,accepted_load,\
         packet_latency_mean_ns,packet_latency_p99_ns,completion_time_us,nodes\n\
         a,1,0,background,traffic,steady,0.3,0.25,700.125,1200,,48\n\
         a,1,0,halo,exchange,completed,,,900,,12.345678,16\n"
    );
    // The next results in the folder have no workloads to tell apart.
    points[1].workloads.clear();
    assert_eq!(finish(&points), points);
    assert!(!folder.file("workloads.csv").exists());
}

#[test]
fn the_failures_of_a_point_have_a_file_and_are_in_its_json() {
    let folder = Folder::new("failures");
    let mut points = sweep("a", 0.7, 600.0, 0.5);
    rounded(&mut points);
    let first = FailureRow {
        time: Picoseconds(100_000_000),
        packets_under_way: 12,
        packets_lost: 345,
        messages_lost: 6,
        interruption: Some(Picoseconds(50_200_000)),
        recovery: Some(Picoseconds(70_500_000)),
    };
    let second = FailureRow { time: Picoseconds(130_000_000), recovery: None, ..first.clone() };
    points[1].failures = vec![first, second];
    let finish = |points: &[Point]| {
        ResultFolder::begin(&folder.0, Vec::new(), Packing::Plain)
            .unwrap()
            .finish(points, &[])
            .unwrap();
        ResultRows::read(&folder.0, |note| panic!("{note}")).unwrap().points
    };
    assert_eq!(finish(&points), points);
    assert_eq!(
        fs::read_to_string(folder.file("failures.csv")).unwrap(),
        "series,point,repetition,time_us,packets_under_way,packets_lost,messages_lost,\
         interruption_us,recovery_us\n\
         a,1,0,100,12,345,6,50.2,70.5\n\
         a,1,0,130,12,345,6,50.2,\n"
    );
    let json = |point: &Point| serde_json::to_value(point).unwrap();
    assert_eq!(json(&points[0]).get("failures"), None);
    let failures = &json(&points[1])["failures"];
    assert_eq!(failures[0]["packets_lost"], 345);
    assert_eq!(failures[1]["recovery_us"], serde_json::Value::Null);
    // The next results in the folder have none, or one a point, which points.csv tells of.
    points[1].failures.clear();
    assert_eq!(finish(&points), points);
    assert!(!folder.file("failures.csv").exists());
}

#[test]
fn a_point_in_json_has_its_workloads_with_the_names_of_their_columns() {
    let mut point = sweep("a", 0.7, 600.0, 0.5).remove(0);
    let json = |point: &Point| serde_json::to_value(point).unwrap();
    assert_eq!(json(&point).get("workloads"), None);
    point.workloads = workloads();
    let found = json(&point);
    assert_eq!((&found["series"], &found["offered_load"]), (&"a".into(), &0.5.into()));
    let [background, halo] = &found["workloads"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!(background["workload"], "background");
    assert_eq!(background["packet_latency_mean_ns"], 700.125);
    assert_eq!((&halo["kind"], &halo["status"]), (&"exchange".into(), &"completed".into()));
    assert_eq!((&halo["nodes"], &halo["completion_time_us"]), (&16.into(), &12.345_678.into()));
    assert!(halo["offered_load"].is_null());
    // A grant is one of the network, and no workload has some.
    assert_eq!(halo.get("events"), None);
    let again: Vec<WorkloadRow> = serde_json::from_value(found["workloads"].clone()).unwrap();
    assert_eq!(again, workloads());
}

#[test]
fn cells_are_plain_decimals_and_headers_carry_units() {
    let folder = Folder::new("cells");
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path, all()).unwrap();
    let label = Label { series: "two\nlines".into(), seed: 7, ..Label::default() };
    let measured = PointRow {
        status: Status::NotSteady,
        offered_load: Some(0.1 + 0.2),
        accepted_load: Some(f64::NAN),
        packet_latency_mean: Some(Picoseconds(1_234_567)),
        packet_latency_p50: Some(Picoseconds(200_000)),
        completion_time: Some(Picoseconds(1_500_001)),
        digest: Some(0xabc),
        ..PointRow::default()
    };
    writer.write(&label, &measured).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let (header, row) = text.trim_end().split_once('\n').unwrap();
    let cells: std::collections::BTreeMap<&str, &str> =
        header.split(',').zip(row.split(',')).collect();
    for (column, cell) in [
        ("series", "\"two lines\""),
        ("status", "not steady"),
        ("offered_load", "0.3"),
        ("accepted_load", ""),
        ("packet_latency_mean_ns", "1234.567"),
        ("packet_latency_p50_ns", "200"),
        ("packet_latency_p999_ns", ""),
        ("completion_time_us", "1.500001"),
        ("offered_payload_GB_per_s_per_node", ""),
        ("accepted_minimum_source_GB_per_s", ""),
        ("bandwidth_GB_per_s_per_node", ""),
        ("digest", "0000000000000abc"),
    ] {
        assert_eq!(cells.get(column), Some(&cell), "{column}");
    }
}

#[test]
fn numbers_too_large_for_six_decimals_are_read_as_written() {
    let folder = Folder::new("large-numbers");
    let numbers = [1e308, -1e305, 4e9 + 0.125, 9_007_199_254.740_993, f64::MIN_POSITIVE];
    let row = |&load: &f64| PointRow { offered_load: Some(load), ..PointRow::default() };
    let rows: Vec<PointRow> = numbers.iter().map(row).collect();
    let (path, label) = (folder.file("points.csv"), Label::default());
    RowWriter::write_file(&path, Labels::None, rows.iter().map(|row| (&label, row))).unwrap();
    let read = read::<PointRow>(&path, &Labels::None).unwrap().rows;
    let read: Vec<f64> = read.iter().map(|(_, row)| row.offered_load.unwrap()).collect();
    assert_eq!(read, [1e308, -1e305, 4e9 + 0.125, 9_007_199_254.740_993, 0.0]);
}

#[test]
fn a_row_cut_short_is_left_out() {
    let folder = Folder::new("cut");
    let path = folder.file("points.csv");
    let rows = sweep("a", 0.7, 600.0, 0.25);
    let mut writer = RowWriter::create(&path, all()).unwrap();
    writer.write(&rows[0].label, &rows[0].measured).unwrap();
    writer.write(&rows[1].label, &rows[1].measured).unwrap();
    drop(writer);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 30]).unwrap();

    let read = read::<PointRow>(&path, &all()).unwrap();
    assert_eq!((read.rows.len(), read.incomplete_line), (1, Some(3)));
}

#[test]
fn a_foreign_file_is_neither_read_nor_replaced() {
    let folder = Folder::new("foreign");
    let path = folder.file("points.csv");
    fs::write(&path, "name,load\nx,1\nno line break").unwrap();
    assert!(RowWriter::<PointRow>::create(&path, all()).is_err(), "an existing file is kept");
    assert_eq!(fs::read_to_string(&path).unwrap(), "name,load\nx,1\nno line break");
    let error = read::<PointRow>(&path, &all()).unwrap_err().to_string();
    assert!(error.contains("points.csv: no columns series, point, seed, status"), "{error}");

    fs::write(&path, "").unwrap();
    assert!(read::<PointRow>(&path, &all()).is_err());
}

#[test]
fn a_wrong_cell_is_named_by_file_line_and_column() {
    let folder = Folder::new("wrong");
    let path = folder.file("points.csv");
    let mut writer = RowWriter::create(&path, all()).unwrap();
    for point in sweep("a", 0.7, 600.0, 0.5) {
        writer.write(&point.label, &point.measured).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    for (good, bad, expected) in [
        (",123456,", ",many,", ":2: column packets: "),
        (",not steady,", ",unsteady,", ":3: column status: "),
        (",17,", ",-17,", ":2: column windows: "),
        (",0.5,", ",NaN,", ":2: column offered_load: "),
        ("0123456789abcdef", "123", ":2: column digest: "),
    ] {
        fs::write(&path, text.replacen(good, bad, 1)).unwrap();
        let error = read::<PointRow>(&path, &all()).unwrap_err().to_string();
        assert!(error.contains(&format!("points.csv{expected}")), "{error}");
    }
    fs::write(&path, text.replacen(",17,", ",", 1)).unwrap();
    let error = read::<PointRow>(&path, &all()).unwrap_err().to_string();
    assert!(error.contains("cells where the header has"), "{error}");
}
